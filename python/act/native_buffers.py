# Part of act, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Result arrays of native steps, which are used again once nobody has them."""

import sys

import numpy as np

_ALIGNMENT = 64


class BufferPool:
    """Memory for arrays of fixed shapes and element types.

    A training loop that replaces its state by the results of each step so has
    two sets of arrays, which take turns, instead of new memory for every step.

    Args:
        kinds: shape and element type of each array.
    """

    def __init__(self, kinds: list[tuple[tuple[int, ...], np.dtype]]) -> None:
        self._kinds = kinds
        self._owners: list[list[np.ndarray]] = [[] for _ in kinds]

    def take(self) -> list[np.ndarray]:
        """Returns one array of each kind, with any contents.

        No other array, view or DLPack capsule refers to their memory, and as long
        as one does it is not returned again.
        """
        return [
            self._take(kind, owners)
            for kind, owners in zip(self._kinds, self._owners, strict=True)
        ]

    @property
    def count(self) -> int:
        """Number of arrays there is memory for."""
        return sum(map(len, self._owners))

    def _take(
        self, kind: tuple[tuple[int, ...], np.dtype], owners: list[np.ndarray]
    ) -> np.ndarray:
        shape, dtype = kind
        for index in range(len(owners)):
            # Views have it as their base, however many steps away from it they are.
            if _references(owners, index) == _UNUSED:
                return _view(owners[index], shape, dtype)
        owner = np.empty(_bytes(shape, dtype) + _ALIGNMENT, np.uint8)
        owners.append(owner)
        return _view(owner, shape, dtype)


def _references(owners: list[np.ndarray], index: int) -> int:
    return sys.getrefcount(owners[index])


#: Of an array that only its list holds; it depends on the version of Python.
_UNUSED = _references([np.empty(1)], 0)


def _bytes(shape: tuple[int, ...], dtype: np.dtype) -> int:
    return int(np.prod(shape, dtype=np.int64)) * dtype.itemsize


def _view(owner: np.ndarray, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """Returns an array at the first aligned address in the memory of another."""
    start = -owner.__array_interface__["data"][0] % _ALIGNMENT
    return owner[start : start + _bytes(shape, dtype)].view(dtype).reshape(shape)
