"""What a verdict says where there was a choice of libraries: which code was the best on each side,
beside the plain ones."""

from made_up_verdicts import (
    ALIKE,
    FAST,
    FROM_GPU,
    FROM_HOST,
    FROM_TRIP,
    HOST,
    SIZES,
    SLOW,
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

QUICK = {1000: 0.5, 1_000_000: 6.0, 10_000_000: 8.0}
NEARLY = QUICK | {10_000_000: 8.01}
UNEVEN = {"speedup_by_round": "1:8.4 2:7.6 3:8.03"}
NUMBA = {"library": "numba"}
JAX = {"library": "jax"}
ON_CPU = "The fastest code on the CPU, computing at the largest sizes, against numpy: "
ON_GPU = "The fastest code on a GPU, computing at the largest sizes, against numpy: "
CPUS = (host(C, HOST), host("numba", QUICK, **NUMBA), host("jax_jit", HOST, **JAX))
FROM_NUMBA = even("from 2000 (1500, 2500)", "numba")
HOSTS = of(numpy(SIZES), *CPUS)

CASES = {
    "the best CPU code, without a GPU": Case(
        of(HOSTS, failed(T, SIZES)),
        [FROM_HOST, FROM_NUMBA, even("from 60000 (50000, 70000)", "jax_jit")],
        [],
        parts=(
            f"{ON_CPU}numba for add float64 (8x as fast (7.61x to 8.41x) at n = 10,000,000).",
            "add float64, numba against numpy: faster from n = 2,000 on",  # the best one first
        ),
        absent=(ON_GPU,),
    ),
    "the best code on each side": Case(
        of(HOSTS, gpu(T, QUICK, TRIP), gpu("cupy", FAST, TRIP, library="cupy-cuda13x")),
        [
            *(FROM_GPU, FROM_TRIP, FROM_HOST, FROM_NUMBA),
            even("from 316 (200, 501)", "cupy"),
            even("from 3e4 (2e4, 4e4)", T, against="best CPU"),
        ],
        [],
        parts=(
            f"{ON_CPU}numba for add float64 (8x as fast (7.61x to 8.41x) at n = 10,000,000).",
            f"{ON_GPU}cupy for add float64 (40x as fast (38x to 42.1x) at n = 10,000,000).",
            "Against the best CPU backend, numba: computing faster from n = 30,000 on",
            "against the best CPU backend measured.)",
            "add float64, cupy against numpy",
        ),
        absent=("Without a GPU",),
    ),
    "no difference seen between two of them": Case(
        of(numpy(SIZES), host("numba", QUICK, **NUMBA), host("jax_jit", NEARLY, **JAX | UNEVEN)),
        [],
        [],
        parts=(f"{ON_CPU}jax_jit or numba for add float64 (8.01x as fast",),
    ),
    "no difference seen between many": Case(
        of(numpy(SIZES), *(host(name, NEARLY, library=name, **UNEVEN) for name in "abcd")),
        [],
        [],
        parts=(f"{ON_CPU}a or one of 3 others for add float64 (8.01x as fast",),
    ),
    "the plain code is the fastest": Case(
        of(numpy(SIZES), host(C, SLOW), host("numba", SLOW, **NUMBA)),
        [even("never 1e7", C), even("never 1e7", "numba")],
        [],
        parts=(f"{ON_CPU}numpy for add float64 (n = 10,000,000).",),
        absent=("numba for",),
    ),
    "the fastest codes are coarser than float32": Case(
        of(
            numpy(SIZES),
            host(C, HOST),
            host("numba", QUICK, **NUMBA, precision="bfloat16", error="0.004"),
            *(
                gpu(T, QUICK, TRIP),
                gpu("torch_half", FAST, TRIP, precision="float16", error="0.01"),
            ),
        ),
        [FROM_GPU, FROM_TRIP, FROM_HOST, FROM_NUMBA],
        [],
        parts=(
            f"{ON_CPU}numba in bfloat16 for add float64 (8x",
            f"{ON_GPU}torch_half in float16 for add float64 (40x",
        ),
    ),
    "one library is no choice": Case(
        of(numpy(SIZES), host("numba", ALIKE, **NUMBA), host("numpy_8", SLOW, library="numpy")),
        [],
        [],
        absent=(ON_CPU, ON_GPU),
    ),
    "one round only": Case(
        of(numpy(SIZES), host(C, HOST, rounds=1), host("numba", QUICK, rounds=1, **NUMBA)),
        [],
        [],
        parts=(f"{ON_CPU}numba for add float64 (8x without an interval at n = 10,000,000).",),
    ),
}
