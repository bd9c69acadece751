"""What is assumed of a workload whose file does not say it, in words, by the name that would."""

MEANING = {
    "cost": "how many operations it takes is not known, so there are no Gflop/s and no place on "
    "the roofline; bytes are those of the arrays that went in and came out",
    "output_shapes": "the shapes of the results are those that NumPy gives",
    "error": "right is what the same code gives with NumPy in float64 (complex128; integers as "
    "they are) on the same inputs; the error is relative to it, in the worse of two norms",
    "bound": "an answer may be off by 16 (u + sqrt(n) u'), u being the unit roundoff of the dtype "
    "and u' that of its sums, and by 0.1 at most; integers are exact",
    "DTYPES": "every dtype of the config makes sense",
    "SIZE": "n is what its inputs were made with; what it counts is not said",
}


def parts(text: str) -> list[str]:
    """The names in the column `assumed`, in which rounds that differ are joined by ' + '."""
    return [name for name in MEANING if name in text.replace(" + ", ", ").split(", ")]
