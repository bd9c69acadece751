"""The check that stands in for one that a workload's file does not have."""

import numpy as np
import pytest

from crossover import defaults
from crossover.status import Failed
from crossover.workloads import UNIT_ROUNDOFF


@pytest.mark.parametrize(
    ("size", "dtype"), [(1, "float32"), (10**6, "float32"), (10**8, "float16")]
)
def test_the_bound_scales_with_dtype_and_size_and_stays_below_a_tenth(size, dtype):
    unit, single = UNIT_ROUNDOFF[dtype], UNIT_ROUNDOFF["float32"]
    assert defaults.bound(size, (dtype,)) == pytest.approx(
        16 * (unit + size**0.5 * min(unit, single))
    )
    assert defaults.bound(10**15, (dtype,)) == 0.1
    assert defaults.bound(size, ("int64", "bool")) == 0


def test_the_error_of_odd_arrays():
    big, zeros = np.array([2**60, 0]), np.zeros(3)
    assert defaults.error((big + np.array([1, 0]),), (big,)) > 0
    assert defaults.error((big,), (big,)) == defaults.error((zeros,), (zeros,)) == 0
    assert defaults.error((zeros + 1e-300,), (zeros,)) == np.inf
    assert defaults.error((zeros,), (zeros + np.nan,)) == np.inf
    assert defaults.error((zeros[:0],), (zeros[:0],)) == 0
    huge = np.array([1e200, 1e200])
    assert defaults.error((huge * 1.5,), (huge,)) == pytest.approx(0.5)
    one_large = np.append(np.ones(999), 1e6)
    assert defaults.error((one_large + np.append(np.ones(999), 0),), (one_large,)) > 3e-5
    one_wrong = np.ones(10**4)
    one_wrong[7] = 1.5
    assert defaults.error((one_wrong,), (np.ones(10**4),)) == 0.5
    with pytest.raises(Failed, match="has shape 2x1, but NumPy gives 2"):
        defaults.error((huge[:, None],), (huge,))
