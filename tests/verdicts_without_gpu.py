"""What a verdict says where no GPU was measured, or what failed."""

from made_up_verdicts import (
    ALIKE,
    FAST,
    FROM_GPU,
    FROM_HOST,
    FROM_TRIP,
    GOOD,
    HOST,
    NO_CUDA,
    OPEN,
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
    row,
)

CASES = {
    "no GPU, torch on the CPU faster": Case(
        of(numpy(SIZES), host(C, HOST), failed(T, SIZES)),
        [FROM_HOST],
        [
            f"{OPEN} stays open; what was measured: torch_cpu against numpy, on the CPU.",
            "add float64, torch_cpu against numpy: faster from n = 60,000 on (95 %: 50,000 to "
            "70,000), 2.2x as fast (2.09x to 2.31x) at n = 10,000,000.",
            "Not ok: 3 of 9 cells: 3 x torch_cuda: unavailable.",
            f"How far to trust it: {GOOD}; 6 cells graded good.",
        ],
        absent=("eats", "Without a GPU", "Worth"),
    ),
    "no GPU, torch on the CPU slower": Case(
        of(numpy(SIZES), host(C, SLOW), failed(T, SIZES)),
        [even("never 1e7", C)],
        [
            f"{OPEN} stays open; what was measured: torch_cpu against numpy, on the CPU.",
            "add float64, torch_cpu against numpy: never faster up to n = 10,000,000, slower, 0.8x "
            "(0.761x to 0.841x) at n = 10,000,000.",
        ],
    ),
    "no GPU asked for": Case(
        of(numpy(SIZES), host(C, ALIKE)),
        [even("unclear 1000 1e7", C)],
        [
            "No GPU was measured here (no backend of this sweep is on one), so whether it is worth "
            "it stays open; what was measured: torch_cpu against numpy, on the CPU.",
            "add float64, torch_cpu against numpy: not clear between n = 1,000 and 10,000,000, no "
            "difference seen, 1.02x (0.97x to 1.07x) at n = 10,000,000.",
        ],
    ),
    "the baseline alone": Case(
        of(numpy(SIZES)),
        [],
        [
            "No GPU was measured here (no backend of this sweep is on one), so whether it is worth "
            "it stays open; what was measured: numpy alone.",
            "add float64: only numpy was measured.",
        ],
    ),
    "two GPUs, both unavailable": Case(
        of(numpy(SIZES), failed("a", SIZES), failed("b", SIZES, reason="no driver")),
        [],
        [
            "No GPU was measured here (all on one failed), so whether it is worth it stays open; "
            "what was measured: numpy alone.",
            f"Not ok: 6 of 9 cells: 3 x a: unavailable ({NO_CUDA}) and 3 x b: unavailable (no "
            "driver).",
        ],
    ),
    "a long reason": Case(
        of(numpy(SIZES), failed(T, SIZES, "error", "long " * 60)),
        [],
        [],
        parts=("(torch_cuda: error, " + ("long " * 24)[:117].rstrip() + "...), so whether",),
    ),
    "all failed": Case(
        of(failed("numpy", SIZES, "killed", "signal 9", device=""), failed(T, SIZES)),
        [],
        [
            f"{OPEN} stays open; what was measured: nothing, no cell is ok.",
            "add float64: no cell is ok (numpy killed, signal 9).",
            "Not ok: 6 of 6 cells: 3 x numpy: killed (signal 9) and 3 x torch_cuda: unavailable.",
        ],
        absent=("trust",),
    ),
    "the baseline failed": Case(
        of(
            failed("numpy", SIZES, "timeout", "120 s", device="cpu"),
            host(C, {1000: 1.0}, speedup="", finding="", speedup_by_round=""),
        ),
        [],
        [
            "No GPU was measured here (no backend of this sweep is on one), so whether it is worth "
            "it stays open; what was measured: torch_cpu, without numpy to compare with.",
            "add float64: no time of numpy to compare with (numpy timeout, 120 s).",
        ],
    ),
    "one dtype failed": Case(
        of(
            numpy(SIZES),
            gpu(T, FAST, TRIP),
            numpy(SIZES, dtype="float16"),
            failed(T, SIZES, "unsupported", "no float16", dtype="float16"),
        ),
        [FROM_GPU, FROM_TRIP],
        [
            "Worth moving to the GPU, every transfer paid: add float64 from n = 90,000 on (95 %: "
            f"80,000 to 100,000). No time on the GPU: add float16. {THERE} numpy.)",
            "add float16: only numpy was measured (torch_cuda unsupported, no float16).",
        ],
    ),
    "what the CPU has for free": Case(
        of(
            numpy(SIZES),
            gpu(T, FAST, TRIP),
            host("numpy_recycled", HOST, library="numpy", memory="recycled"),
            host("numpy_8", SLOW, library="numpy", threads_effective="8"),
        ),
        [FROM_GPU, FROM_TRIP, even("from 60000 (50000, 70000)", "numpy_recycled")],
        [],
        parts=(
            "Without a GPU, faster than numpy: numpy_recycled (the same code, recycled memory) for "
            "add float64 from n = 60,000 on (95 %: 50,000 to 70,000), at n = 10,000,000 2.2x",
        ),
        absent=("numpy_8",),
    ),
    "the CPU has nothing for free": Case(
        of(
            numpy(SIZES),
            gpu(T, FAST, TRIP),
            host("numpy_8", SLOW, library="numpy", threads_effective="8"),
        ),
        [FROM_GPU, FROM_TRIP, even("never 1e7", "numpy_8")],
        [
            "Worth moving to the GPU, every transfer paid: add float64 from n = 90,000 on (95 %: "
            f"80,000 to 100,000). {THERE} numpy.)",
            "Without a GPU, not seen faster than numpy at large sizes: numpy_8 (the same code, 8 "
            "threads).",
        ],
    ),
    "no GPU, drawing": Case(
        of(
            numpy(SIZES, True, **POLAR),
            host(C, HOST, **POLAR),
            [row(C, 10**7, "end_to_end", speedup="1.1", median_s="0.012", **POLAR)],
            failed(T, SIZES, **POLAR),
        ),
        [even("from 60000 (50000, 70000)", C, **POLAR)],
        [
            f"{OPEN} stays open; what was measured: torch_cpu against numpy, on the CPU.",
            "polar float32, torch_cpu against numpy: faster from n = 60,000 on (95 %: 50,000 to "
            "70,000), 2.2x as fast (2.09x to 2.31x) at n = 10,000,000; with drawing 1.1x without "
            "an interval.",
            "What eats any gain, at the largest sizes: drawing is 50 % (polar float32 by numpy, "
            "10 ms of 20 ms) of the whole.",
        ],
    ),
}
