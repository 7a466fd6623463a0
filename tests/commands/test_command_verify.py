"""`verify`: exit codes and lines; what each layout demands is tested with the layouts."""

import shutil

import pytest
from command_line import call


def test_a_folder_in_order(built):
    assert call("verify", built.out).done().lines == [f"22 of 22 files verified in {built.out}"]
    (found,) = call("verify", "--json", built.out).done().objects
    assert found["faults"] == []
    assert sorted([*found["checked"], "build.json"]) == built.names()


@pytest.mark.parametrize(
    "name", ["vocab.bin", "q25_tokenizer.img", "tensors/blk.0.f32.weight.bin", "model.json"]
)
def test_a_file_in_order(built, name):
    assert call("verify", built.out / name).done().out == f"1 of 1 file verified in {built.out / name}\n"


def test_every_artifact_is_found_out_by_one_flipped_bit(built):
    for name in built.recorded():
        path = built.out / name
        good = path.read_bytes()
        for at in {0, len(good) // 2, len(good) - 1}:
            path.write_bytes(good[:at] + bytes([good[at] ^ 0x10]) + good[at + 1 :])
            outcome = call("verify", built.out)
            assert outcome.code == 1, (name, at)
            assert "Traceback" not in outcome.err
            assert str(path) in outcome.err, (name, at)
            assert all(line.isprintable() for line in outcome.err.splitlines())
        path.write_bytes(good)
    call("verify", built.out).done()


def test_faults_are_counted_and_each_is_a_line(built):
    (built.out / "model.json").unlink()
    (built.out / "merges.txt").write_bytes(b"x")
    outcome = call("verify", built.out)
    assert outcome.code == 1
    assert outcome.lines == [f"20 of 22 files verified in {built.out}"]
    first, second = outcome.err.splitlines()
    assert first == f"{built.out / 'model.json'}: missing; run the manifest again"
    assert second.startswith(f"{built.out / 'merges.txt'}: ")
    found = call("verify", "--json", built.out)
    assert (found.code, found.err) == (1, "")
    assert found.objects[0]["faults"] == [first, second]


def test_what_is_not_there(built, monkeypatch):
    monkeypatch.chdir(built.root)
    assert call("verify", "nothing").refused(2) == "pipeline: nothing: there is no such file or folder"
    assert (
        call("verify", "out/nothing").refused(2) == "pipeline: out/nothing: there is no such file or folder"
    )


def test_a_folder_without_a_record(tmp_path):
    line = call("verify", tmp_path).refused(1)
    assert line.startswith(f"pipeline: {tmp_path / 'build.json'}: ")
    (tmp_path / "build.json").write_bytes(b"{}")
    line = call("verify", tmp_path).refused(1)
    assert "expected a build record" in line


def test_a_file_of_which_nothing_is_known(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_bytes(b"x")
    assert "nothing is known of such a file" in call("verify", path).refused(1)


def test_an_artifact_without_its_folder(built, tmp_path):
    """Its layout is checked alone."""
    path = tmp_path / "elsewhere" / "q25_tokenizer.img"
    path.parent.mkdir()
    shutil.copy(built.out / path.name, path)
    assert call("verify", path).code == 0
    path.write_bytes(path.read_bytes()[:-1])
    outcome = call("verify", path)
    assert outcome.code == 1
    assert outcome.err.startswith(f"{path}: header.total_bytes at offset ")


def test_a_model(built):
    assert call("verify", built.gguf).code == 0
    built.gguf.write_bytes(built.gguf.read_bytes()[:-100])
    outcome = call("verify", built.gguf)
    assert outcome.code == 1
    assert "tensor 'blk.0.q6_k.weight'" in outcome.err
