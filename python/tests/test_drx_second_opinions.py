"""What kernels of DRX mean beside other libraries: the TOSA reference model, librosa, OpenCV and pandas.

NumPy judges every other test. Here the model runs kernels whose results these libraries have as well.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from drx_random import of

from rackwright.drx import Configuration, compile_kernel, xp
from rackwright.drx.machine import run_model

Array = np.ndarray[Any, Any]
WIDE = Configuration(lanes=128)

pytestmark = pytest.mark.long("their libraries have several hundred MB")


def on_the_unit(function: Callable[..., Any], *inputs: Array) -> Array:
    """The result of a kernel in the model."""
    kernel = of(function, list(inputs)).kernel
    compiled = compile_kernel(kernel, WIDE)
    data = [np.ascontiguousarray(array).tobytes() for array in inputs]
    ended = run_model(compiled.program, data, kernel.result.bytes, WIDE)
    assert ended.status == "ok"
    return np.frombuffer(ended.output, kernel.result.element.dtype).reshape(kernel.result.shape)


def bytes_of(*shape: int, dtype: Any = np.uint8) -> Array:
    limits = np.iinfo(dtype)
    return np.random.default_rng(48).integers(limits.min, limits.max, shape, dtype, endpoint=True)


class Tosa:
    """Graphs of one operation for the TOSA reference model."""

    def __init__(self) -> None:
        reason = "pip install --no-deps tosa-tools==2026.8.0 ml-dtypes: its metadata wants an older NumPy"
        self.format = pytest.importorskip("tosa_serializer", reason=reason)
        self.model = pytest.importorskip("tosa_reference_model", reason=reason)

    def _type(self, dtype: np.dtype[Any]) -> Any:
        names = {"int8": "INT8", "int16": "INT16", "int32": "INT32", "float32": "FP32"}
        return getattr(self.format.DType, names[dtype.name])

    def __call__(
        self, name: str, source: Array, result: Array, *options: Any, constants: tuple[Array, ...] = ()
    ) -> Array:
        """The operation of `source`, of the type and shape of `result`; `options` are its attribute's."""
        graph = self.format.TosaSerializer()
        inputs = [graph.addPlaceholder(list(source.shape), self._type(source.dtype), None)]
        inputs += [graph.addConst(list(each.shape), self._type(each.dtype), each) for each in constants]
        output = graph.addOutput(list(result.shape), self._type(result.dtype))
        words = {"REDUCE_SUM": "ReduceSum", "REDUCE_MAX": "ReduceMax", "MAX_POOL2D": "MaxPool2d"}
        attribute = self.format.TosaSerializerAttribute()
        getattr(attribute, f"{words.get(name, name.capitalize())}Attribute")(*options)
        operation = getattr(self.format.Op, name)
        graph.addOperator(operation, [each.name for each in inputs], [output.name], attribute)
        (found,), status = self.model.run(bytes(graph.serialize()), [source])
        assert status == self.model.GraphStatus.TOSA_VALID
        return np.asarray(found)


@pytest.fixture(scope="module")
def tosa() -> Tosa:
    return Tosa()


INTEGERS = (np.int8, np.int16, np.int32)


@pytest.mark.parametrize(
    ("source", "target"),
    [pair for pair in itertools.product(INTEGERS, (*INTEGERS, np.float32)) if pair[0] is not pair[1]],
)
def test_casts_of_integers(tosa: Tosa, source: Any, target: Any) -> None:
    """TOSA 1.1, CAST: low bits between integers, the nearest number of binary32."""
    numbers = bytes_of(40, 70, dtype=source)
    found = on_the_unit(lambda x: xp.astype(x, target), numbers)
    assert np.array_equal(found, tosa("CAST", numbers, found))


@pytest.mark.parametrize("target", [np.int8, np.int16])
def test_casts_of_binary32(tosa: Tosa, target: Any) -> None:
    """TOSA rounds to the nearest integer and saturates: a kernel clips whole numbers."""
    limits = np.iinfo(target)
    numbers = np.rint(np.random.default_rng(3).normal(0, 2 * limits.max, (40, 70))).astype(np.float32)
    found = on_the_unit(
        lambda x: xp.astype(xp.clip(x, float(limits.min), float(limits.max)), target), numbers
    )
    assert np.array_equal(found, tosa("CAST", numbers, found))


@pytest.mark.parametrize(("multiplier", "shift"), [(20_000, 14), (16_384, 15), (32_767, 20)])
def test_rescales(tosa: Tosa, multiplier: int, shift: int) -> None:
    """TOSA 1.1, RESCALE by a multiplier of 16 bits, with zero points and a single rounding."""
    numbers, before, after = bytes_of(40, 70, dtype=np.int8), 3, -5

    def rescaled(x: Any) -> Any:
        scaled = (xp.astype(x, xp.int32) - before) * multiplier + (1 << shift - 1) >> shift
        return xp.astype(xp.clip(scaled + after, -128, 127), xp.int8)

    found = on_the_unit(rescaled, numbers)
    constants = (
        np.array([multiplier], np.int16),
        np.array([shift], np.int8),
        np.array([before], np.int8),
        np.array([after], np.int8),
    )
    rounding = tosa.format.RoundingMode.SINGLE_ROUND
    expected = tosa("RESCALE", numbers, found, False, rounding, False, False, False, constants=constants)
    assert np.array_equal(found, expected)


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_reductions(tosa: Tosa, axis: int) -> None:
    """Sums of integers, and maxima of bytes and of binary32, along each axis."""
    numbers = bytes_of(12, 30, 20, dtype=np.int16).astype(np.int32)
    found = on_the_unit(lambda x: xp.sum(x, axis=axis, dtype=xp.int32, keepdims=True), numbers)
    assert np.array_equal(found, tosa("REDUCE_SUM", numbers, found, axis))
    quiet = tosa.format.NanPropagationMode.PROPAGATE
    for each in (numbers.astype(np.int8), (numbers / 7).astype(np.float32)):
        found = on_the_unit(lambda x: xp.max(x, axis=axis, keepdims=True), each)
        assert np.array_equal(found, tosa("REDUCE_MAX", each, found, axis, quiet))


def test_pooling(tosa: Tosa) -> None:
    """The greatest of four neighbours, in the layout that TOSA has: batch, rows, columns, channels."""
    numbers = bytes_of(1, 48, 60, 3, dtype=np.int8)
    found = on_the_unit(lambda x: xp.max(xp.reshape(x, (1, 24, 2, 30, 2, 3)), axis=(2, 4)), numbers)
    quiet = tosa.format.NanPropagationMode.PROPAGATE
    assert np.array_equal(found, tosa("MAX_POOL2D", numbers, found, [2, 2], [2, 2], [0, 0, 0, 0], quiet))


def test_the_mel_scale_of_librosa() -> None:
    """The product of `sound` is librosa's mel spectrogram of a chirp, within the roundings of its sums."""
    librosa = pytest.importorskip("librosa", reason="pip install 'rackwright[opinions]'")
    size, bands, rate = 766, 128, 22_050
    signal = librosa.chirp(sr=rate, fmin=110, fmax=8_000, duration=2.0).astype(np.float32)
    spectrum = librosa.stft(signal, n_fft=size, hop_length=256)
    bank = np.ascontiguousarray(librosa.filters.mel(sr=rate, n_fft=size, n_mels=bands).T)
    pairs = np.ascontiguousarray(spectrum.T).view(np.float32).reshape(spectrum.shape[1], -1, 2)
    found = on_the_unit(lambda x, by: (x[..., 0] ** 2 + x[..., 1] ** 2) @ by, pairs, bank)
    expected = librosa.feature.melspectrogram(
        S=np.abs(spectrum.astype(np.complex128)) ** 2, sr=rate, n_fft=size, n_mels=bands
    ).T
    bound = (len(bank) + 3) * 2.0**-24 * np.abs(expected) + 2.0**-140
    assert np.all(np.abs(found - expected) <= bound)


def test_pooling_and_resizing_of_opencv() -> None:
    """The pooling of `video` is a dilation, of which every second pixel stays; resizing in two ways."""
    cv2 = pytest.importorskip("cv2", reason="pip install 'rackwright[opinions]'")
    frame = bytes_of(96, 54, 3)
    pooled = on_the_unit(lambda x: xp.max(xp.reshape(x, (48, 2, 27, 2, 3)), axis=(1, 3)), frame)
    dilated = cv2.dilate(frame, np.ones((2, 2), np.uint8), anchor=(0, 0))
    assert np.array_equal(pooled, dilated[::2, ::2])
    nearest = on_the_unit(lambda x: x[::2, ::2] + 0, frame)
    assert np.array_equal(nearest, cv2.resize(frame, (27, 48), interpolation=cv2.INTER_NEAREST))

    def mean(x: Any) -> Any:
        wide = xp.reshape(xp.astype(x, xp.int32), (48, 2, 27, 2, 3))
        return xp.astype(xp.sum(wide, axis=(1, 3), dtype=xp.int32) + 2 >> 2, xp.uint8)

    assert np.array_equal(on_the_unit(mean, frame), cv2.resize(frame, (27, 48), interpolation=cv2.INTER_AREA))


def test_concatenation_of_pandas() -> None:
    """`join` and `redaction` as frames below each other."""
    columns = bytes_of(4, 100, 32, dtype=np.int64)
    found = on_the_unit(
        lambda x: xp.astype(xp.reshape(xp.concat([x[i] for i in range(4)]), (400, 32)), xp.int32), columns
    )
    expected = pd.concat([pd.DataFrame(each) for each in columns], ignore_index=True)
    assert np.array_equal(found, expected.to_numpy().astype(np.int32))
    records = bytes_of(4, 60, 48)
    text = on_the_unit(lambda x: xp.reshape(xp.concat([x[i] for i in range(4)]), (-1,)), records)
    parts = [pd.Series(each.reshape(-1)) for each in records]
    assert np.array_equal(text, pd.concat(parts).to_numpy())
