"""Model files that are damaged or made up are refused, by the name of the damaged part."""

import json
import zipfile
from io import BytesIO

import numpy as np
import pytest

from maxmargin import InvalidInputError, ModelFileError, load, save
from maxmargin.io._model.archive import describe, npy_prefix, read_archive, read_array, write_archive
from tests.io.models import model


def content_of(name, folder):
    save(model(name), folder / "good.maxmargin")
    return (folder / "good.maxmargin").read_bytes()


def opened(content):
    """(header, arrays) of a model file."""
    members = read_archive(BytesIO(content))
    header = json.loads(members["header.json"])
    return header, {name: read_array(members, name, entry) for name, entry in header["arrays"].items()}


def write(header, arrays, path):
    """A model file with valid checksums, whatever it says."""
    described = {name: describe(name, array) for name, array in arrays.items()}
    header = {**header, "arrays": {name: entry for name, (entry, _) in described.items()}}
    with open(path, "wb") as file:
        members = [("header.json", [json.dumps(header).encode()])]
        write_archive(file, members + [(f"{name}.npy", pieces) for name, (_, pieces) in described.items()])


def refused(path, part):
    with pytest.raises(ModelFileError) as caught:
        load(path)
    assert caught.value.part == part, str(caught.value)
    assert "\n" not in str(caught.value)


def test_each_single_byte_is_protected(tmp_path):
    content, path = content_of("svc_rbf", tmp_path), tmp_path / "bad.maxmargin"
    for at in range(0, len(content), 7):
        damaged = bytearray(content)
        damaged[at] ^= 0x10
        path.write_bytes(damaged)
        with pytest.raises(ModelFileError) as caught:
            load(path)
        assert caught.value.part


def test_a_damaged_member_is_named(tmp_path):
    content = content_of("svc_rbf", tmp_path)
    for member in zipfile.ZipFile(BytesIO(content)).infolist():
        damaged = bytearray(content)
        damaged[member.header_offset + 30 + len(member.filename) + member.file_size - 1] ^= 1
        (tmp_path / "bad.maxmargin").write_bytes(damaged)
        refused(tmp_path / "bad.maxmargin", member.filename)


@pytest.mark.parametrize("share", [0.0, 0.01, 0.3, 0.9, 0.999])
def test_a_truncated_file_is_refused(share, tmp_path):
    content = content_of("linear", tmp_path)
    (tmp_path / "bad.maxmargin").write_bytes(content[: int(share * len(content))])
    with pytest.raises(ModelFileError, match=r"truncated|empty|first|no model"):
        load(tmp_path / "bad.maxmargin")


def test_a_file_with_something_behind_it_is_refused(tmp_path):
    (tmp_path / "bad.maxmargin").write_bytes(content_of("linear", tmp_path) + b"\0")
    refused(tmp_path / "bad.maxmargin", "the end of the archive")


def test_a_bomb_is_refused_without_being_unpacked(tmp_path):
    path = tmp_path / "bomb.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", b" " * (200 << 20))
    assert path.stat().st_size < 1 << 20
    refused(path, "header.json")


def test_members_that_overlap_are_refused(tmp_path):
    content = bytearray(content_of("linear", tmp_path))
    first, second, third = zipfile.ZipFile(BytesIO(bytes(content))).infolist()[1:4]
    where = [content.rindex(b"PK\x01\x02", 0, content.rindex(member.filename.encode())) for member in (first, second, third)]
    forged = content[: where[1]] + content[where[0] : where[1]].replace(b"classes", b"classez") + content[where[2] :]
    (tmp_path / "bad.maxmargin").write_bytes(forged)
    with pytest.raises(ModelFileError, match=r"directory|end of the archive"):
        load(tmp_path / "bad.maxmargin")


@pytest.mark.parametrize(
    ("part", "change"),
    [
        ("n_support", lambda a: a.update(n_support=a["n_support"] + np.array([1, 0], dtype=np.int32))),
        ("n_support", lambda a: a.update(n_support=a["n_support"] * np.int32(-1))),
        ("support", lambda a: a["support"].__setitem__(0, 24)),
        ("support", lambda a: a["support"].__setitem__(0, -1)),
        ("support", lambda a: a["support"].__setitem__(0, a["support"][1])),
        ("dual_coef", lambda a: a.update(dual_coef=a["dual_coef"][:, :-1])),
        ("dual_coef", lambda a: a["dual_coef"].__setitem__((0, 0), np.nan)),
        ("dual_coef", lambda a: a.update(dual_coef=a["dual_coef"].astype(np.float32))),
        ("support_vectors", lambda a: a.update(support_vectors=a["support_vectors"][:, :2])),
        ("support_vectors", lambda a: a["support_vectors"].__setitem__((0, 0), np.inf)),
        ("intercept", lambda a: a.update(intercept=np.zeros(3))),
        ("classes", lambda a: a.update(classes=np.array(["one"]))),
        ("classes", lambda a: a.update(classes=np.array(["one", "one"]))),
        ("class_weight", lambda a: a["class_weight"].__setitem__(0, 0.0)),
        ("n_iter", lambda a: a.update(n_iter=np.zeros(2, dtype=np.int32))),
        ("optimum_balls", lambda a: a["optimum_balls"].__setitem__((0, 0), -1.0)),
        ("trace_lengths", lambda a: a["trace_lengths"].__setitem__(0, -5)),
        ("trace", lambda a: a.update(trace=a["trace"][:-1])),
        ("dual_coef", lambda a: a.pop("dual_coef")),
        ("surprise", lambda a: a.update(surprise=np.zeros(1))),
    ],
)
def test_arrays_that_contradict_the_others_are_refused(part, change, tmp_path):
    header, arrays = opened(content_of("svc_rbf", tmp_path))
    change(arrays)
    write(header, arrays, tmp_path / "bad.maxmargin")
    refused(tmp_path / "bad.maxmargin", part)


@pytest.mark.parametrize(
    ("part", "change"),
    [
        ("format", lambda h: h.update(format="another")),
        ("version", lambda h: h.update(version=3)),
        ("version", lambda h: h.update(version=0)),
        ("estimator", lambda h: h.update(estimator="os.system")),
        ("estimator", lambda h: h.update(estimator=["SVC"])),
        ("surprise", lambda h: h.update(surprise=1)),
        ("fitted", lambda h: h.pop("fitted")),
        ("C", lambda h: h["parameters"].update(C=-1.0)),
        ("C", lambda h: h["parameters"].update(C={"type": "regularization", "spelling": "mean", "value": -1})),
        ("tol", lambda h: h["parameters"].update(tol="tight")),
        ("kernel", lambda h: h["parameters"].update(kernel="os.system")),
        ("kernel", lambda h: h["parameters"].update(kernel={"type": "kernel", "name": "custom", "function": "print"})),
        ("solver", lambda h: h["parameters"].update(solver={"type": "solver", "name": "smo", "seed": 0})),
        ("solver", lambda h: h["parameters"].update(solver={"type": "solver", "name": "smo", "n_threads": "many"})),
        ("n_jobs", lambda h: h["parameters"].update(n_jobs=0.5)),
        ("class_weight", lambda h: h["parameters"]["class_weight"].update(weights=[["ant", -1.0]])),
        ("class_weight", lambda h: h["parameters"]["class_weight"].update(weights=[[["ant"], 1.0]])),
        ("probability", lambda h: h["parameters"].update(probability=True)),
        ("kernel", lambda h: h["fitted"].update(kernel={"type": "kernel", "name": "rbf", "gamma": "scale"})),
        ("kernel", lambda h: h["fitted"].update(kernel={"type": "kernel", "name": "rbf", "gamma": -1.0})),
        ("n_features", lambda h: h["fitted"].update(n_features=-3)),
        ("shape_fit", lambda h: h["fitted"].update(shape_fit=[24, 4])),
        ("fingerprint", lambda h: h["fitted"].update(fingerprint=["0" * 16] * 4)),
        ("fingerprint", lambda h: h["fitted"].update(fingerprint=["0" * 16] * 4 + ["x" * 16])),
        ("fingerprint", lambda h: h["fitted"].update(fingerprint=[0] * 5)),
        ("fit_status", lambda h: h["fitted"].update(fit_status=7)),
        ("status", lambda h: h["fitted"].update(status=["FINE"])),
        ("certificate", lambda h: h["fitted"]["certificate"][0].update(gap={"type": "float", "value": "nan"})),
        ("certificate", lambda h: h["fitted"]["certificate"][0].update(groups=[1, 2])),
        ("certificate", lambda h: h["fitted"].update(certificate=[])),
    ],
)
def test_header_fields_that_cannot_be_are_refused(part, change, tmp_path):
    header, arrays = opened(content_of("svc_rbf", tmp_path))
    change(header)
    write(header, arrays, tmp_path / "bad.maxmargin")
    refused(tmp_path / "bad.maxmargin", part)


@pytest.mark.parametrize(
    ("name", "part", "change"),
    [
        ("svc_linear_sparse", "support_vectors_indices", lambda a: a["support_vectors_indices"].__setitem__(0, 99)),
        ("svc_linear_sparse", "support_vectors_indptr", lambda a: a["support_vectors_indptr"].__setitem__(1, 99)),
        ("svc_precomputed", "support", lambda a: a["support"].__setitem__(0, 10**6)),
        ("pegasos_stream", "stream_counts", lambda a: a["stream_counts"].__setitem__((0, 1), 0)),
        ("pegasos_stream", "stream_numbers", lambda a: a["stream_numbers"].__setitem__((0, 0), 1.0)),
        ("perceptron_voted", "vote_signs", lambda a: a["vote_signs"].__setitem__(0, 2.0)),
        ("perceptron_voted", "mistakes", lambda a: a["mistakes"].__setitem__(0, 23)),
        ("linear_ramp", "outlier_lengths", lambda a: a["outlier_lengths"].__setitem__(0, 99)),
        ("svc_ramp", "outliers", lambda a: a.update(outliers=a["outliers"] + 99)),
        ("linear_3", "coef", lambda a: a.update(coef=a["coef"][:2])),
    ],
)
def test_fields_of_other_models_are_checked_too(name, part, change, tmp_path):
    header, arrays = opened(content_of(name, tmp_path))
    if part == "mistakes":
        arrays["mistakes"][0] = next(k for k in range(24) if k not in arrays["support"])
    else:
        change(arrays)
    write(header, arrays, tmp_path / "bad.maxmargin")
    refused(tmp_path / "bad.maxmargin", part)


def test_a_constant_feature_that_no_perceptron_has_is_refused(tmp_path):
    header, arrays = opened(content_of("perceptron_voted", tmp_path))
    header["fitted"]["bias_scale"] = -1e308
    write(header, arrays, tmp_path / "bad.maxmargin")
    refused(tmp_path / "bad.maxmargin", "bias_scale")


@pytest.mark.parametrize("depth", [300, 900])
def test_values_that_are_nested_deeply_are_refused(depth, tmp_path):
    value = 0.5
    for _ in range(depth):
        value = {"type": "kernel", "name": "rbf", "gamma": value}
    header, arrays = opened(content_of("svc_rbf", tmp_path))
    for part in ("parameters", "fitted"):
        write({**header, part: {**header[part], "kernel": value}}, arrays, tmp_path / "bad.maxmargin")
        with pytest.raises(ModelFileError) as caught:
            load(tmp_path / "bad.maxmargin")
        assert caught.value.part in ("kernel", "header.json")


def test_mistakes_without_support_vectors_are_refused(tmp_path):
    header, arrays = opened(content_of("perceptron", tmp_path))
    for name in ("support", "dual_coef", "support_vectors"):
        arrays.pop(name, None)
    write(header, arrays, tmp_path / "bad.maxmargin")
    refused(tmp_path / "bad.maxmargin", "mistakes")


@pytest.mark.parametrize("said", [{}, {"type": {}, "shape": [1, 3]}, {"type": "csr_array", "shape": [10**9, 3]}, "csr", None])
def test_a_sparse_matrix_that_is_described_wrongly_is_refused(said, tmp_path):
    header, arrays = opened(content_of("svc_linear_sparse", tmp_path))
    header["fitted"]["support_vectors"] = said
    write(header, arrays, tmp_path / "bad.maxmargin")
    refused(tmp_path / "bad.maxmargin", "support_vectors")


def test_an_array_of_objects_is_refused(tmp_path):
    header, arrays = opened(content_of("svc_rbf", tmp_path))
    described = {name: describe(name, array) for name, array in arrays.items()}
    entry = {**described["intercept"][0], "dtype": "|O"}
    described["intercept"] = (entry, [npy_prefix("|O", (1,), "C"), b"cos\nsystem\n."])
    header["arrays"] = {name: entry for name, (entry, _) in described.items()}
    with open(tmp_path / "bad.maxmargin", "wb") as file:
        members = [("header.json", [json.dumps(header).encode()])]
        write_archive(file, members + [(f"{name}.npy", pieces) for name, (_, pieces) in described.items()])
    refused(tmp_path / "bad.maxmargin", "intercept")


@pytest.mark.parametrize("text", [b"[" * 100_000, b'{"a": NaN}', b'{"a": 1, "a": 2}', b"\xff\xfe", b"1" * 5000, b"", b"[]"])
def test_a_header_that_is_no_proper_json_is_refused(text, tmp_path):
    with open(tmp_path / "bad.maxmargin", "wb") as file:
        write_archive(file, [("header.json", [text])])
    with pytest.raises(ModelFileError, match=r"header\.json"):
        load(tmp_path / "bad.maxmargin")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "empty"),
        (b"\x80\x04\x95", "pickle"),
        (b"solver_type L2R_LR\n", "LIBLINEAR"),
        (b"\x00\x01\x02 garbage", "no model file"),
    ],
)
def test_files_of_other_kinds_are_recognised(content, words, tmp_path):
    (tmp_path / "a").write_bytes(content)
    with pytest.raises(ModelFileError, match=words):
        load(tmp_path / "a")


def test_files_that_are_missing_or_too_large_are_refused(tmp_path):
    with pytest.raises(ModelFileError, match="No such file"):
        load(tmp_path / "nothing.maxmargin")
    with pytest.raises(ModelFileError, match="directory"):
        load(tmp_path)
    content_of("linear", tmp_path)
    with pytest.raises(ModelFileError, match="max_bytes=100"):
        load(tmp_path / "good.maxmargin", max_bytes=100)
    with pytest.raises(ModelFileError, match="3 features, not 4"):
        load(tmp_path / "good.maxmargin", n_features=4)
    with pytest.raises(InvalidInputError, match="n_features"):
        load(tmp_path / "good.maxmargin", n_features=0)


@pytest.mark.parametrize("number", ["1" + 400 * "0", "1e400", "-1e400"])
def test_numbers_beyond_float64_are_refused(number, tmp_path):
    header, arrays = opened(content_of("linear", tmp_path))
    header["parameters"]["C"] = 1234.5
    described = {name: describe(name, array) for name, array in arrays.items()}
    header["arrays"] = {name: entry for name, (entry, _) in described.items()}
    text = json.dumps(header)
    assert text.count("1234.5") == 1
    with open(tmp_path / "bad.maxmargin", "wb") as file:
        members = [("header.json", [text.replace("1234.5", number).encode()])]
        write_archive(file, members + [(f"{name}.npy", pieces) for name, (_, pieces) in described.items()])
    with pytest.raises(ModelFileError, match="beyond float64"):
        load(tmp_path / "bad.maxmargin")
