# config.yaml -> CONFIG, and what each job reads and depends on.

import inspect
import re
import shlex
import sys
from pathlib import Path

# Snakemake pastes this into a shell's command as it is: a clone below "it's mine/" could not run.
sys.executable = shlex.quote(sys.executable)

ROOT = Path(str(workflow.current_basedir.get_path_or_uri(secret_free=True))).parents[1]
SCRIPTS = ROOT / "workflow/scripts"
sys.path.insert(0, str(SCRIPTS))

from snakemake.exceptions import WorkflowError

from crossover import article, cells, identity, nodes, plugin, slurm_queue
from crossover.config import ConfigError, check_file, read, refined


def relative(path):
    """As seen from the working directory where it lies below it: then a clone can be moved."""
    path, here = Path(path).resolve(), Path.cwd().resolve()
    return str(path.relative_to(here) if path.is_relative_to(here) else path)


# The working directory's own config.yaml if there is one, as with --directory, else ours.
CONFIG_FILE = "config.yaml" if Path("config.yaml").exists() else relative(ROOT / "config.yaml")
try:
    settings = workflow.config_settings
    for file in settings.configfiles or ():
        check_file(Path(file))
    if not (settings.replace_workflow_config or workflow.modifier.skip_configfile):
        check_file(Path(CONFIG_FILE))
except ConfigError as error:
    sys.exit("\n".join(error.lines))


configfile: CONFIG_FILE


try:
    # A module's prefix is where its results/ is.
    CONFIG = refined(read(config, Path.cwd()), Path(workflow.modifier.path_modifier.prefix or ""))
except ConfigError as error:
    sys.exit("\n".join(error.lines))

# Scripts read these two from here and not from params, since they are no reason to measure again.
config["timeout_s"] = CONFIG.timeout_s
config["arrays"] = {"keep_mb": CONFIG.keep_mb}

CELLS = CONFIG.cells()
PICTURES = CONFIG.pictures()
# For what is made of all of them: in an order that is not that of the keys in config.yaml.
BACKENDS = sorted(CONFIG.backends, key=lambda name: (name != CONFIG.baseline, name))
SORTED_CELLS = sorted(CELLS, key=lambda c: (c.workload, c.dtype, c.size, BACKENDS.index(c.backend)))
WORKLOADS = sorted(CONFIG.workloads)
DTYPES = sorted({cell.dtype for cell in CELLS})
# Backends whose data has to be brought to a device.
DEVICES = [name for name in BACKENDS if CONFIG.backends[name].device != "cpu"]
# The kind of work of each workload.
REGIMES = {name: CONFIG.workloads[name].regime for name in WORKLOADS}
OUT = str(CONFIG.folder)
SUMMARY = f"{OUT}/summary.csv"
ENVIRONMENT = str(ROOT / "environment.yml")


# Only `--sdm apptainer` takes notice; without an image in the config there is none.
container: CONFIG.container


# By backend, the kind of node that a cluster is asked for; {} where jobs run here. A cluster's
# profile is told by `cpus_per_task` among its default-resources, which dry runs and the jobs
# themselves are given as well, so that the plan is the same everywhere.
PROFILE = nodes.from_profile(
    {
        name: resource.raw
        for name, resource in workflow.resource_settings._parsed_default_resources.items()
    }
)
PLACES = nodes.places(CONFIG.backends, PROFILE) if "cpus_per_task" in PROFILE else {}


def source(path):
    """A source file as an input. `local`: a module's prefix is for what the module makes."""
    return local(relative(path))


def any_of(names):
    return "|".join(re.escape(name) for name in names)


HARNESS = [source(path) for path in identity.harness()]


wildcard_constraints:
    workload=any_of(CONFIG.workloads),
    backend=any_of(CONFIG.backends),
    dtype=r"[a-z]+\d*",
    size=r"\d+",
    round=r"\d+",


def library(*names):
    """Source files of the library, as inputs of the scripts that import them."""
    return [source(plugin.PACKAGE / name) for name in names]


# What every script imports that reads results.
READING = ["record.py", "status.py", "turn.py"]


def signed(function):
    """Snakemake asks for a function's signature at each call, which takes longer than the call."""
    function.__signature__ = inspect.signature(function)
    return function


def of_backend(get):
    """What is the same for all jobs of one backend, worked out once and not for each job."""
    found = {name: get(backend) for name, backend in CONFIG.backends.items()}
    return signed(lambda wildcards: found[wildcards.backend])


def of_workload(get):
    found = {name: get(workload) for name, workload in CONFIG.workloads.items()}
    return signed(lambda wildcards: found[wildcards.workload])


workload_file = of_workload(lambda workload: source(workload.file))
backend_file = of_backend(lambda backend: source(backend.file))

# What a backend's answers depend on, as params of every job that asks it for one.
OF_BACKEND = {
    "device": of_backend(lambda backend: backend.device),
    "machine": of_backend(lambda backend: identity.where(CONFIG, backend, PLACES)),
    "options": of_backend(identity.options),
    "threads": of_backend(lambda backend: identity.threads(CONFIG, backend)),
    "versions": of_backend(identity.versions),
}


def whole_machine():
    """`threads` of a timed job: all the cores that Snakemake was given, so that nothing runs
    beside it. On a cluster, where there is no such number, what the profile says; in a job there,
    all of the node's again, so that the jobs of a group run one after another."""

    @signed
    def threads(wildcards):
        if PLACES and not workflow.remote_exec:
            return PROFILE["cpus_per_task"]
        try:
            return workflow.cores or 1
        except WorkflowError:
            return 1

    return threads


GROUPS = {}
for cell in reversed(CELLS):
    GROUPS.setdefault((cell.workload, cell.dtype, str(cell.size)), 1 + len(GROUPS))


@signed
def priority_of(wildcards):
    """Every cell's round 1 before any round 2, so that a cell's rounds are spread over the sweep;
    within a round the backends that will be compared follow each other, and ceilings come last."""
    round = int(wildcards.get("round", 1))
    cell = tuple(wildcards.get(name) for name in ("workload", "dtype", "size"))
    return 1 + (1 + len(GROUPS)) * (CONFIG.rounds - round) + GROUPS.get(cell, 0)


def probes():
    return [str(cells.probe_json(name)) for name in CONFIG.backends]


def tables(cells):
    """The raw files of all rounds of some cells."""
    return [str(cell.csv(round)) for cell in cells for round in range(1, CONFIG.rounds + 1)]


def samples():
    """Every file of every cell, so that one deleted by hand is measured again."""
    return tables([*CELLS, *PICTURES]) + [str(cell.array) for cell in CELLS]


def ceilings():
    """What the cells are held to: one file for each backend, dtype and round."""
    return tables(cells.ceilings_of(CELLS))


def pictures():
    """Charts of each workload and dtype, with the curve where the output is one, of each workload,
    of each dtype, and of a survey; SVG and PNG."""
    workloads = CONFIG.workloads.values()
    charts = ("time", "speedup", "parts", *(["reuse"] if DEVICES else []))
    names = [
        f"{workload.name}/{dtype}/{chart}"
        for workload in workloads
        for dtype in workload.dtypes
        for chart in (*charts, *(["curve"] if workload.is_curve else []))
    ]
    names += [f"{name}/accuracy" for name in WORKLOADS]
    names += [f"roofline_{dtype}" for dtype in DTYPES]
    names += ["regimes"] if CONFIG.is_survey else []
    return [f"{OUT}/plots/{name}.{format}" for name in names for format in ("svg", "png")]


def on_page(name, category="{workload}", dtype="{dtype}", caption=""):
    """Where Snakemake's report shows a picture, and under which words."""
    return {
        "category": category,
        "labels": {"dtype": dtype, "picture": name},
        "caption": f"../report/{caption or name}.rst",
    }


def drawn_cells(wildcards):
    """Largest size first: the first one that has an output is drawn."""
    return [
        cells.Cell(wildcards.workload, name, wildcards.dtype, size)
        for size in reversed(CONFIG.workloads[wildcards.workload].sizes_in(wildcards.dtype))
        for name in CONFIG.backends
    ]


onstart:
    # Snakemake 9.27 starts a timer for each job that wakes the scheduler every second from then on:
    # after a hundred jobs that takes a quarter of a core from what is being measured. It belongs to
    # a limit on submissions per second, which jobs that run one at a time do not come near.
    if workflow.local_exec:
        workflow.scheduler.job_rate_limiter = None
    elif PLACES:
        ask_steadily(workflow.scheduler._executor)
    # As often as Snakemake looks itself; the other executors have no such number, and no Slurm.
    interval = "init_seconds_before_status_checks"
    if seconds := getattr(workflow.executor_settings, interval, None):
        slurm_queue.watch(logger.warning, seconds)
