"""What a verdict says of itself: how far to trust it, and more than it has room for."""

from crossover.machines import DIVIDED
from made_up_verdicts import (
    FAST,
    FROM_GPU,
    FROM_HOST,
    FROM_TRIP,
    GOOD,
    HOST,
    POLAR,
    SIZES,
    SLOW,
    THERE,
    TRIP,
    C,
    Case,
    T,
    even,
    failed,
    gpu,
    host,
    numpy,
    of,
)

ELSEWHERE = {"machine": "b2", "cpu": "Another", "cores": "8"}
APART = {"apart": "Another, 8 cores (machine b2)"}
CASES = {
    "disturbed": Case(
        of(numpy(SIZES, grade="disturbed + launch_bound"), host(C, HOST, grade="disturbed")),
        [FROM_HOST],
        [],
        parts=(
            f"{GOOD}; 6 of 6 cells trusted less, some in several ways: 6 disturbed (others used "
            "the cores meanwhile) and 3 launch_bound (so short that the timing loop is more than "
            "1 % of it).",
        ),
    ),
    "few threads, not as asked": Case(
        of(
            numpy(SIZES, threads_effective="1", grade="few_threads", speedup=""),
            host(C, HOST, speedup="", finding="", speedup_by_round=""),
        ),
        [],
        [],
        parts=(
            "Beware: numpy used 1 thread on 2 cores, fewer than asked: nothing is compared with it "
            "there.",
        ),
        absent=("faster", "as fast"),
    ),
    "one-thread BLAS, as asked": Case(
        of(numpy(SIZES, threads_effective="1", threads_requested="1"), gpu(T, FAST, TRIP)),
        [FROM_GPU, FROM_TRIP],
        [],
        parts=("Beware: numpy used 1 thread on 2 cores, as asked: on all of them it may be ",),
    ),
    "crippled by the environment": Case(
        of(numpy(SIZES, environment="OPENBLAS_CORETYPE=Prescott OMP_DYNAMIC=false"), host(C, HOST)),
        [FROM_HOST],
        [],
        parts=(
            "Beware: OPENBLAS_CORETYPE=Prescott was set (OpenBLAS uses the kernels of that CPU, "
            "not of this one).",
        ),
        absent=("OMP_DYNAMIC",),
    ),
    "coarser than float32": Case(
        of(
            numpy(SIZES, precision="", error="1e-7"),
            host(C, HOST, precision="ieee", error="1e-7"),
            gpu(T, FAST, TRIP, precision="tf32", error="0.00123"),
        ),
        [FROM_GPU, FROM_TRIP],
        [],
        parts=(
            "(GPU: torch_cuda in tf32 (NVIDIA H200); against",
            "Beware: torch_cuda computes float32 in tf32, with errors up to 0.001.",
        ),
        absent=("torch_cpu computes", "numpy computes"),
    ),
    "mixed machines in one curve": Case(
        of(numpy(SIZES), gpu(T, FAST, TRIP, **ELSEWHERE, speedup="", finding="")),
        [],
        [
            "Not compared, since it was never on the same machine as its baseline: add float64. "
            f"{THERE} numpy.)",
            "add float64, torch_cuda against numpy: never on the same machine, so nothing is said "
            "about it.",
            "What eats the gain, at the largest sizes: transfers are 90 % (add float64) of a round "
            "trip; the first call of a process took up to 350 ms, after 1.2 s of importing.",
            "Beware: the times are from 2 machines (A CPU, 2 cores and Another, 8 cores), never "
            "compared with each other.",
            "How far to trust it: measured in 3 rounds, intervals of 95 %; 6 cells graded good.",
        ],
        absent=("faster", "Worth"),
    ),
    "each workload on a machine of its own": Case(
        of(
            *(numpy(SIZES), gpu(T, FAST, TRIP)),
            numpy(SIZES, **POLAR, machine="b2", cpu="Another"),
            host(C, HOST, **POLAR, machine="b2", cpu="Another"),
        ),
        [FROM_GPU, FROM_TRIP],
        [],
        parts=("Beware: the times are from 2 machines (", "polar float32, torch_cpu against"),
        absent=("nothing is said", "Apart"),
    ),
    "some rounds on another machine": Case(
        of(
            numpy(SIZES),
            gpu(T, FAST, TRIP),
            numpy(SIZES, **ELSEWHERE),
            gpu(T, FAST, SLOW, **ELSEWHERE),
        ),
        [
            *(FROM_GPU, FROM_TRIP),
            even("smallest 1000", T) | APART,
            even("never 1e7", T, "round_trip") | APART,
        ],
        [],
        parts=(
            "Worth moving to the GPU, every transfer paid: add float64 from n = 90,000 on",
            "Apart, on Another, 8 cores (machine b2): add float64 torch_cuda computing faster "
            "from the smallest size, n = 1,000, on, with transfers never faster up to "
            "n = 10,000,000.",
            "never compared with each other",
        ),
    ),
    "divided across machines, as the config says": Case(
        of(numpy(SIZES), gpu(T, FAST, TRIP, rounds=1, **ELSEWHERE, note=DIVIDED)),
        [],
        [],
        parts=(
            "torch_cuda against numpy: computing 40x without an interval",
            "), compared with each other, without an interval, where a note says so.",
        ),
        absent=("Worth", "faster"),
    ),
    "a baseline on each GPU's own machine": Case(
        of(
            numpy(SIZES),
            gpu("a", FAST, TRIP, device="A100"),
            (
                row | {"backend": "numpy_b", **ELSEWHERE, "baseline": "numpy_b"}
                for row in numpy(SIZES)
            ),
            gpu("b", FAST, SLOW, device="B200", baseline="numpy_b", **ELSEWHERE),
        ),
        [
            *(even("from 316 (200, 501)", "a"), even("from 9e4 (8e4, 1e5)", "a", "round_trip")),
            even("from 400 (300, 500)", "b", against="numpy_b"),
            even("never 1e7", "b", "round_trip", against="numpy_b"),
        ],
        [],
        parts=(
            "(GPU: a (A100) and b (B200); against numpy or numpy_b.)",
            "Which GPU, every transfer paid: a (A100) against numpy on A CPU, 2 cores: add float64 "
            "from n = 90,000 on (95 %: 80,000 to 100,000). b (B200) against numpy_b on Another, 8 "
            "cores: add float64 never up to n = 10,000,000.",
            "b against numpy_b: computing faster from n = 400 on",
        ),
        absent=("Apart", "Not compared"),
    ),
    "two models of GPU under one name": Case(
        of(numpy(SIZES), gpu(T, FAST, TRIP), gpu(T, {10: 9.0}, {10: 9.0}, device="A100")),
        [FROM_GPU, FROM_TRIP],
        [],
        parts=(
            "Apart, on A CPU, 2 cores (machine a1); torch_cuda on A100: add float64 torch_cuda "
            "computing no interval",
        ),
    ),
    "the baseline is on the GPU": Case(
        of(
            gpu("numpy", dict.fromkeys(SIZES, 1.0), dict.fromkeys(SIZES, 1.0)),
            host(C, SLOW),
            failed("numpy", (77,), "killed", "signal 9"),
        ),
        [even("never 1e7", C)],
        [
            "Only the baseline, numpy, was on a GPU: this says what is faster than that, not "
            "whether moving to a GPU is worth it; choose a baseline on the CPU."
        ],
        parts=("1 x numpy: killed (signal 9)",),
    ),
    "reasons that differ in their numbers": Case(
        of(
            numpy(SIZES),
            failed(T, SIZES[:1], "out_of_memory", "80 bytes asked, 3 there"),
            failed(T, SIZES[1:2], "out_of_memory", "8,000 bytes asked, 4 there"),
            failed(T, SIZES[2:], "killed", "signal 9"),
            failed("c", SIZES, "error", "x"),
            failed("d", SIZES[:1], "error", "y"),
        ),
        [],
        [],
        parts=(
            "Not ok: 7 of 10 cells: 3 x c: error (x), 2 x torch_cuda: out_of_memory (such as: 80 "
            "bytes asked, 3 there) and 2 more reasons.",
        ),
    ),
    "hostile names": Case(
        of(
            numpy(SIZES, workload="NA", dtype="int32"),
            host("null", HOST, workload="NA", dtype="int32"),
            failed(
                "_x_",
                SIZES,
                reason="<script>\n|$x$ \x1b[1m100%\x1b[0m",
                workload="NA",
                dtype="int32",
            ),
        ),
        [even("from 60000 (50000, 70000)", "null", workload="NA", dtype="int32")],
        [
            "No GPU was measured here (_x_: unavailable, <script> |$x$ 100%), so whether it is "
            "worth it stays open; what was measured: null against numpy, on the CPU.",
            "NA int32, null against numpy: faster from n = 60,000 on (95 %: 50,000 to 70,000), "
            "2.2x as fast (2.09x to 2.31x) at n = 10,000,000.",
        ],
    ),
    "nothing measured yet": Case(
        of(
            numpy(SIZES[:1]),
            failed("numpy", SIZES[1:], "not measured", "not measured yet", device=""),
            failed(T, SIZES, "not measured", "not measured yet", device=""),
        ),
        [],
        [],
        parts=("Not ok: 5 of 6 cells: 3 x torch_cuda: not measured and 2 x numpy: not measured.",),
    ),
    "many dtypes": Case(
        of(
            *(numpy(SIZES, workload=w, dtype=d) for w in ("add", "sum") for d in "abcde"),
            *(gpu(T, FAST, SLOW, workload=w, dtype=d) for w in ("add", "sum") for d in "abcde"),
        ),
        [
            even("from 316 (200, 501)", T, workload=w, dtype=d)
            for w in ("add", "sum")
            for d in "abcde"
        ]
        + [
            even("never 1e7", T, "round_trip", workload=w, dtype=d)
            for w in ("add", "sum")
            for d in "abcde"
        ],
        [],
        parts=(
            "Worth it only for data that stays on the GPU: add a from n = 316 on (95 %: 200 to "
            "501), with transfers never up to n = 10,000,000; add b ",
            " and 7 more. (GPU",
            "sum: a torch_cuda computing faster from n = 316 on (95 %: 200 to 501), with transfers "
            "never faster up to n = 10,000,000; b torch_cuda ",
        ),
    ),
    "many workloads": Case(
        of(
            *(numpy(SIZES, workload=f"w{i}") for i in range(30)),
            *(host(C, HOST, workload=f"w{i}") for i in range(30)),
        ),
        [even("from 60000 (50000, 70000)", C, workload=f"w{i}") for i in range(30)],
        [],
        parts=(
            "w6: float64 torch_cpu faster from n = 60,000 on (95 %: 50,000 to 70,000).",
            "23 more workloads in break_even.csv and summary.csv.",
        ),
    ),
}
