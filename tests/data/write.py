"""Writes the small data files of the tests with the programs that people write them with.

    python tests/data/write.py        needs numpy and scikit-learn; pandas and pyarrow for the columnar ones

Every table is the same: four rows of x (three columns), t and the words g.
"""

import pathlib
import sys

import numpy as np

HERE = pathlib.Path(__file__).parent
X = np.array([[1.0, 0.0, -2.5], [0.5, 3.0, 0.0], [0.0, 0.0, 1e-3], [4.0, -1.0, 0.25]])
T = np.array([1.5, -2.0, np.nan, 1e6])
G = np.array(["low", "high", "höher", ""])


def write_numpy():
    np.savez(HERE / "plain.npz", x=X, t=T, g=G)
    np.savez_compressed(HERE / "packed.npz", x=np.asfortranarray(X), t=T.astype("<f4"), g=G)
    np.savez_compressed(
        HERE / "types.npz",
        f8_big=X[:, 0].astype(">f8"),
        f4=X[:, 0].astype("<f4"),
        i1=np.array([-128, -1, 0, 127], "i1"),
        i4_big=np.array([-(2**31), -1, 0, 2**31 - 1], ">i4"),
        i8=np.array([-(2**53), -1, 0, 2**53], "i8"),
        large=np.array([-(2**53) - 1, 2**53 + 1, 2**62, 3], "i8"),
        u1=np.array([0, 1, 128, 255], "u1"),
        u8=np.array([0, 1, 2**53, 2**63], "u8"),
        flag=np.array([True, False, True, True]),
        flags=np.array([[True, False], [False, False], [True, True], [False, True]]),
        word=np.array(["a", "bb", "NA", "日本"]),
        word_big=np.array(["a", "bb", "NA", "日本"]).astype(">U2"),
        byte=np.array([b"a", b"bb", b"c", b""]),
        scalar=np.float64(3.5),
        objects=np.array(["a", None, "b", 3], dtype=object),
        complex=np.array([1j, 2, 3, 4]),
        dates=np.array(["2020-01-01"] * 4, "M8[D]"),
        cube=np.zeros((2, 2, 1)),
        half=np.zeros(4, "f2"),
        records=np.zeros(4, dtype=[("a", "f8"), ("b", "i4")]),
    )
    np.save(HERE / "matrix.npy", X)
    for version in [(1, 0), (2, 0), (3, 0)]:
        with open(HERE / f"version{version[0]}.npy", "wb") as file:
            np.lib.format.write_array(file, T[:2], version=version)
    np.save(HERE / "objects.npy", np.array([1, "a"], dtype=object), allow_pickle=True)


def write_svmlight():
    from sklearn.datasets import dump_svmlight_file

    y = np.array([1.5, -2.0, 0.0, 1e6])
    dump_svmlight_file(X, y, str(HERE / "ones.svm"), zero_based=False)
    dump_svmlight_file(X, y, str(HERE / "zeros.svm"), zero_based=True)
    dump_svmlight_file(X, y, str(HERE / "groups.svm"), zero_based=False, query_id=[1, 1, 2, 2], comment="by sklearn")


def write_columnar():
    import pandas as pd

    frame = pd.DataFrame({"x1": X[:, 0], "x2": X[:, 1], "x3": X[:, 2], "t": T, "g": [g or None for g in G]})
    frame["n"] = np.array([1, 2, 3, 4], "int32")
    frame["level"] = pd.Categorical(["a", "b", "a", None])
    frame.to_parquet(HERE / "table.parquet", index=False)
    frame.to_feather(HERE / "table.arrow", compression="uncompressed")


if __name__ == "__main__":
    for name in sys.argv[1:] or ["numpy", "svmlight", "columnar"]:
        globals()[f"write_{name}"]()
