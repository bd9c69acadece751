"""What a verdict says where a GPU was measured."""

from made_up_verdicts import (
    ALIKE,
    FAST,
    FROM_GPU,
    FROM_HOST,
    FROM_TRIP,
    GOOD,
    HOST,
    NEVER_TRIP,
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
    reuse,
)

CASES = {
    "worth it": Case(
        of(numpy(SIZES), gpu(T, FAST, TRIP)),
        [FROM_GPU, FROM_TRIP],
        [
            "Worth moving to the GPU, every transfer paid: add float64 from n = 90,000 on "
            f"(95 %: 80,000 to 100,000). {THERE} numpy.)",
            "add float64, torch_cuda against numpy: computing faster from n = 316 on (95 %: 200 to "
            "501), 40x as fast (38x to 42.1x) at n = 10,000,000; with transfers faster from "
            "n = 90,000 on (95 %: 80,000 to 100,000), 4x as fast (3.8x to 4.21x).",
            "What eats the gain, at the largest sizes: transfers are 90 % (add float64) of a round "
            "trip; the first call of a process took up to 350 ms, after 1.2 s of importing; "
            "uploading once pays from 3 calls on, 2 to 4 (add float64; in a new process from 40 "
            "calls on, 30 to 50).",
            f"How far to trust it: {GOOD}; 6 cells graded good.",
        ],
        reuses=[reuse(T, 1000, (9, 9, 9), (9, 9, 9)), reuse(T, 10**7, (2, 3, 4), (30, 40, 50))],
        absent=("Without a GPU", "Not ok", "Beware"),
    ),
    "worth it from the smallest size on": Case(
        of(numpy(SIZES), gpu(T, dict.fromkeys(SIZES, 9.0), dict.fromkeys(SIZES, 3.0))),
        [even("smallest 1000", T), even("smallest 1000", T, "round_trip")],
        [
            "Worth moving to the GPU, every transfer paid: add float64 from the smallest size, "
            f"n = 1,000, on. {THERE} numpy.)"
        ],
    ),
    "only while the data stays there": Case(
        of(numpy(SIZES), gpu(T, FAST, SLOW)),
        [FROM_GPU, NEVER_TRIP],
        [
            "Worth it only for data that stays on the GPU: add float64 from n = 316 on (95 %: 200 "
            f"to 501), with transfers never up to n = 10,000,000. {THERE} numpy.)",
            "add float64, torch_cuda against numpy: computing faster from n = 316 on (95 %: 200 to "
            "501), 40x as fast (38x to 42.1x) at n = 10,000,000; with transfers never faster up to "
            "n = 10,000,000, slower, 0.8x (0.761x to 0.841x).",
        ],
    ),
    "never": Case(
        of(numpy(SIZES), gpu(T, SLOW, SLOW)),
        [even("never 1e7", T), NEVER_TRIP],
        [
            f"Not worth it: add float64 (never faster up to n = 10,000,000). {THERE} numpy.)",
            "add float64, torch_cuda against numpy: computing never faster up to n = 10,000,000, "
            "slower, 0.8x (0.761x to 0.841x) at n = 10,000,000; with transfers never faster up to "
            "n = 10,000,000, slower, 0.8x (0.761x to 0.841x).",
        ],
    ),
    "beats numpy, and torch on the CPU does too": Case(
        of(numpy(SIZES), gpu(T, HOST, HOST), host(C, HOST)),
        [
            FROM_TRIP,
            even("unclear 1000 1e7", T, against="best CPU"),
            even("unclear 1000 1e7", T, "round_trip", "best CPU"),
            FROM_HOST,
        ],
        [
            "Faster than the baseline, but not seen faster than the best CPU backend: add float64 "
            "with transfers from n = 90,000 on (95 %: 80,000 to 100,000). "
            f"{THERE} the best CPU backend measured.)",
            "Without a GPU, faster than numpy: torch_cpu for add float64 from n = 60,000 on (95 %: "
            "50,000 to 70,000), at n = 10,000,000 2.2x as fast (2.09x to 2.31x).",
        ],
        parts=(
            "Against the best CPU backend, torch_cpu: computing not clear between n = 1,000 and "
            "10,000,000, no difference seen, 1x (",
        ),
        absent=("Worth",),
    ),
    "against the best CPU backend it starts later": Case(
        of(numpy(SIZES), gpu(T, FAST, TRIP), host(C, dict.fromkeys(SIZES, 1.3), memory="recycled")),
        [
            *(FROM_GPU, FROM_TRIP),
            even("from 2e5 (1e5, 3e5)", T, "round_trip", "best CPU"),
            even("from 500 (400, 600)", T, against="best CPU"),
            even("smallest 1000", C),
        ],
        [
            "Worth moving to the GPU, every transfer paid: add float64 from n = 200,000 on (95 %: "
            f"100,000 to 300,000). {THERE} the best CPU backend measured.)"
        ],
        parts=(
            "with transfers faster from n = 90,000 on",
            "with transfers faster from n = 200,000 on (95 %: 100,000 to 300,000), 3.08x as fast (",
            "Without a GPU, faster than numpy: torch_cpu for add float64 from the smallest size",
        ),
    ),
    "a crossing that crosses back": Case(
        of(numpy(SIZES), gpu(T, {1000: 0.5, 10**6: 2, 10**7: 0.7}, SLOW)),
        [even("between 5000 4e6", T), NEVER_TRIP],
        [
            "Worth it in a range of sizes only: add float64 computing between n = 5,000 and "
            f"4,000,000. {THERE} numpy.)",
            "add float64, torch_cuda against numpy: computing faster only between n = 5,000 and "
            "4,000,000, slower, 0.7x (0.666x to 0.736x) at n = 10,000,000; with transfers never "
            "faster up to n = 10,000,000, slower, 0.8x (0.761x to 0.841x).",
        ],
    ),
    "not clear": Case(
        of(numpy(SIZES), gpu(T, ALIKE, ALIKE)),
        [even("unclear 1000 1e7", T), even("unclear 1e6 1e7", T, "round_trip")],
        [
            "Not clear: add float64 (computing not clear between n = 1,000 and 10,000,000, with "
            f"transfers not clear between n = 1,000,000 and 10,000,000). {THERE} numpy.)"
        ],
        parts=(
            "no difference seen, 1.02x (0.97x to 1.07x) at n = 10,000,000",
            "where no difference was seen, one of 5.1 % could have been missed",
        ),
        absent=("Worth", "faster"),
    ),
    "not clear on the device, never with transfers": Case(
        of(numpy(SIZES), gpu(T, ALIKE, SLOW)),
        [even("unclear 1000 1e7", T), NEVER_TRIP],
        [
            "Not clear: add float64 (computing not clear between n = 1,000 and 10,000,000, with "
            f"transfers never up to n = 10,000,000). {THERE} numpy.)"
        ],
    ),
    "transfers that cost nothing": Case(
        of(numpy(SIZES), gpu(T, TRIP, FAST)),
        [FROM_GPU, FROM_TRIP],
        [],
        parts=("What eats the gain, at the largest sizes: the first call of a process took",),
    ),
    "one size": Case(
        of(numpy((1000,)), gpu(T, {1000: 5.0}, {1000: 1.0})),
        [even("smallest 1000", T), even("unclear 1000 1000", T, "round_trip")],
        [
            "Worth it only for data that stays on the GPU: add float64 from the smallest size, "
            f"n = 1,000, on, with transfers not clear at n = 1,000. {THERE} numpy.)"
        ],
    ),
    "one round": Case(
        of(numpy(SIZES, rounds="1"), gpu(T, FAST, TRIP, rounds=1)),
        [even("", T), even("", T, "round_trip")],
        [
            f"Not clear: add float64 (no interval). {THERE} numpy.)",
            "add float64, torch_cuda against numpy: computing 40x without an interval at "
            "n = 10,000,000; with transfers 4x without an interval.",
        ],
        parts=("in 1 round, which gives no interval, so no gain is claimed",),
        absent=("Worth", "faster", "as fast"),
    ),
    "uploading never pays": Case(
        of(numpy(SIZES), gpu(T, SLOW, SLOW)),
        [even("never 1e7", T), NEVER_TRIP],
        [f"Not worth it: add float64 (never faster up to n = 10,000,000). {THERE} numpy.)"],
        reuses=[reuse(T, 10**7, ("inf",) * 3, ("inf",) * 3)],
        parts=("uploading once never pays (add float64).",),
    ),
    "uploading may pay or not": Case(
        of(numpy(SIZES), gpu(T, ALIKE, SLOW)),
        [even("unclear 1000 1e7", T), NEVER_TRIP],
        [],
        reuses=[reuse(T, 10**7, (7, 30, "inf"), ("", "", ""))],
        parts=("uploading once pays from a number of calls on that is not clear (add float64).",),
    ),
    "worth it, but not with drawing": Case(
        of(numpy(SIZES, True, **POLAR), gpu(T, FAST, TRIP, ALIKE, **POLAR)),
        [
            even("from 316 (200, 501)", T, **POLAR),
            even("from 90000 (80000, 100000)", T, "round_trip", **POLAR),
            even("unclear 1000 1e7", T, "end_to_end", **POLAR),
        ],
        [
            "Worth moving to the GPU, every transfer paid: polar float32 from n = 90,000 on (95 %: "
            "80,000 to 100,000), but with drawing not clear between n = 1,000 and 10,000,000. "
            f"{THERE} numpy.)"
        ],
        parts=(
            "; with transfers and drawing not clear between n = 1,000 and 10,000,000, no "
            "difference seen, 1.02x (0.97x to 1.07x).",
            "; drawing is 74 % (polar float32, 7.3 ms of 9.8 ms) of the whole;",
        ),
    ),
    "some of three workloads": Case(
        of(
            *(numpy(SIZES, workload=name) for name in ("add", "matmul", "sort")),
            gpu(T, FAST, TRIP),
            gpu(T, SLOW, SLOW, workload="matmul"),
            failed(T, SIZES, "unsupported", "no sort", workload="sort"),
        ),
        [
            *(FROM_GPU, FROM_TRIP),
            even("never 1e7", T, workload="matmul"),
            even("never 1e7", T, "round_trip", workload="matmul"),
        ],
        [
            "Worth moving to the GPU, every transfer paid: add float64 from n = 90,000 on (95 %: "
            "80,000 to 100,000). Not worth it: matmul float64 (never faster up to n = 10,000,000). "
            f"No time on the GPU: sort float64. {THERE} numpy.)",
            "sort float64: only numpy was measured (torch_cuda unsupported, no sort).",
            "Not ok: 3 of 18 cells: 3 x torch_cuda: unsupported (no sort).",
        ],
    ),
    "several GPUs": Case(
        of(numpy(SIZES), gpu("a", FAST, TRIP, device="A100"), gpu("b", FAST, SLOW, device="B200")),
        [
            even("from 316 (200, 501)", "a"),
            even("from 90000 (80000, 100000)", "a", "round_trip"),
            even("from 400 (300, 500)", "b"),
            even("never 1e7", "b", "round_trip"),
        ],
        [
            "Worth moving to the GPU, every transfer paid: add float64 on a from n = 90,000 on "
            "(95 %: 80,000 to 100,000). Worth it only for data that stays on the GPU: add float64 "
            "on b from n = 400 on (95 %: 300 to 500), with transfers never up to n = 10,000,000. "
            "(GPU: a (A100) and b (B200); against numpy.)"
        ],
        parts=("transfers are 98 % (add float64 by b) and 90 % (add float64 by a) of a round",),
    ),
    "one of two GPUs failed": Case(
        of(numpy(SIZES), gpu("a", FAST, TRIP), failed("b", SIZES, "out_of_memory", "8 GB asked")),
        [even("from 316 (200, 501)", "a"), even("from 9e4 (8e4, 1e5)", "a", "round_trip")],
        [],
        parts=("Not ok: 3 of 9 cells: 3 x b: out_of_memory (8 GB asked).",),
    ),
}
