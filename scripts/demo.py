#!/usr/bin/env python3
"""The main job on real input: two disks out of real tools, two scans, two verdicts.

(a) A base image made from a real Debian root tree, and a disk cloned from it: must be vacant.
(b) The same disk, given to a guest out of 64 KiB blocks that held another tenant's ext4 (SQLite databases, .env files,
    keys, directories); the guest wrote 4 KiB of each: must be residue.

Exits 0 only if both verdicts are as expected and (b) shows what was left. Slow inputs are kept in the output folder and made once.
"""
import argparse
import json
import os
import random
import re
import secrets
import shutil
import sqlite3
import string
import subprocess
import sys
import time
from pathlib import Path

POOL_BLOCK = 64 * 1024
GUEST_WRITE = 4 * 1024
BASE_SIZE = "768M"
TENANT_SIZE = "96M"


def step(text):
    print(f"== {text}", flush=True)


def run(*argv, **more):
    """Runs a program by its argument vector; its output is shown only if it fails."""
    done = subprocess.run(list(map(str, argv)), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **more)
    if done.returncode != 0:
        sys.stdout.write(done.stdout.decode(errors="replace"))
        sys.exit(f"{argv[0]} failed with exit code {done.returncode}")
    return done.stdout.decode(errors="replace")


def make_base(out, suite, mirror):
    """A Debian root tree by mmdebstrap, as an ext4 image. Kept: a second run takes it as it is."""
    image = out / "base.img"
    if image.exists():
        step(f"base image: {image} is there")
        return image
    step(f"base image: Debian {suite} by mmdebstrap (once, about a minute)")
    tar = out / "root.tar"
    tree = out / "root"
    run("mmdebstrap", "--variant=minbase", "--quiet", suite, tar, *([mirror] if mirror else []))
    shutil.rmtree(tree, ignore_errors=True)
    tree.mkdir()
    # Device nodes need root; the scan does not miss them.
    run("tar", "-C", tree, "-xf", tar, "--exclude=./dev/*", "--no-same-owner")
    partial = out / "base.img.partial"
    partial.unlink(missing_ok=True)
    run("mke2fs", "-q", "-t", "ext4", "-E", "lazy_itable_init=0,lazy_journal_init=0", "-d", tree, partial, BASE_SIZE)
    shutil.rmtree(tree)
    tar.unlink()
    partial.rename(image)
    return image


def fake(alphabet, count):
    return "".join(secrets.choice(alphabet) for _ in range(count))


def fill_tenant(tree):
    """What another tenant left: made at run time, obviously fake, never kept in the repository."""
    base62 = string.digits + string.ascii_letters
    for i in range(120):
        project = tree / f"project-{i:02d}"
        (project / "src").mkdir(parents=True)
        (project / ".env").write_text(
            f"DATABASE_URL=postgres://fake:{fake(base62, 20)}@db.invalid/app\n"
            f"API_TOKEN={fake(base62, 40)}\nSESSION_SECRET={fake(base62, 32)}\n")
        for j in range(4):
            (project / "src" / f"module_{j}.py").write_text(f"# module {j}\n" * random.randint(20, 200))
    keys = tree / "keys"
    keys.mkdir()
    for i in range(6):
        run("openssl", "genpkey", "-algorithm", "ed25519", "-out", keys / f"service-{i}.pem")
        run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", f"fake-{i}", "-f", keys / f"id_{i}")
    data = tree / "data"
    data.mkdir()
    for i in range(120):
        with sqlite3.connect(data / f"app-{i}.db") as db:
            db.execute("CREATE TABLE visits (id INTEGER PRIMARY KEY, url TEXT, note TEXT)")
            rows = [(f"https://host-{n}.invalid/", fake(base62, 40)) for n in range(random.randint(60, 220))]
            db.executemany("INSERT INTO visits (url, note) VALUES (?, ?)", rows)
        db.close()


def make_tenant(out):
    tree = out / "tenant"
    shutil.rmtree(tree, ignore_errors=True)
    tree.mkdir()
    fill_tenant(tree)
    image = out / "tenant.img"
    image.unlink(missing_ok=True)
    run("mke2fs", "-q", "-t", "ext4", "-b", "4096", "-d", tree, image, TENANT_SIZE)
    shutil.rmtree(tree)
    return image


def free_regions(image):
    """64 KiB-aligned regions that the base's ext4 calls free, by dumpe2fs."""
    text = run("dumpe2fs", image)
    block = int(re.search(r"Block size:\s+(\d+)", text).group(1))
    for line in re.findall(r"^  Free blocks: (.+)$", text, re.M):
        for part in line.split(", "):
            first, _, last = part.partition("-")
            begin = -(-int(first) * block // POOL_BLOCK) * POOL_BLOCK
            end = (int(last or first) + 1) * block
            while begin + POOL_BLOCK <= end:
                yield begin
                begin += POOL_BLOCK


def make_leaky_disk(out, base, tenant):
    """The fault: pool blocks arrive as their last owner left them, but for the 4 KiB that the guest writes."""
    disk = out / "disk-b.img"
    disk.unlink(missing_ok=True)
    run("cp", "--sparse=always", base, disk)
    written = []
    with open(tenant, "rb") as pool, open(disk, "r+b") as guest:
        regions = free_regions(base)
        while block := pool.read(POOL_BLOCK):
            if not any(block):
                continue
            at = next(regions, None)
            if at is None:
                sys.exit("the base image has too little free space")
            guest.seek(at)
            guest.write(os.urandom(GUEST_WRITE) + block[GUEST_WRITE:])
            written.append({"offset": at, "length": GUEST_WRITE})
    map_file = out / "disk-b.written.json"
    map_file.write_text(json.dumps({"format": "vacant-write-map/1", "size": disk.stat().st_size, "extents": written}))
    return disk, map_file, len(written)


def scan(vacant, disk, report, *options):
    started = time.monotonic()
    done = subprocess.run([str(vacant), "scan", str(disk), "--quiet", "--format", "json", "-o", str(report.with_suffix(".json")),
                           "--also", f"html={report.with_suffix('.html')}", *map(str, options)], stderr=subprocess.PIPE)
    if done.returncode not in (0, 1, 3):
        sys.exit(f"vacant scan failed: {done.stderr.decode(errors='replace')}")
    result = json.loads(report.with_suffix(".json").read_text())
    result["exit"] = done.returncode
    result["seconds"] = time.monotonic() - started
    return result


def check(failures, name, good):
    if not good:
        failures.append(name)


def print_table(a, b):
    rows = [("", "(a) clone of the base", "(b) unzeroed pool blocks"), ("verdict", a["verdict"], b["verdict"]),
            ("exit code", a["exit"], b["exit"])]
    for key, label in (("foreign_directory_inodes", "foreign directory inodes"), ("foreign_file_systems", "foreign file systems"),
                       ("sqlite_databases", "SQLite databases, complete"), ("credential_files", "credential files"),
                       ("private_keys", "private keys")):
        rows.append((label, a["summary"][key], b["summary"][key]))
    for cls in ("base", "own", "foreign", "unexplained"):
        rows.append((f"bytes {cls}", a["class_bytes"][cls], b["class_bytes"][cls]))
    rows.append(("seconds", f"{a['seconds']:.1f}", f"{b['seconds']:.1f}"))
    print()
    for label, left, right in rows:
        print(f"  {label:<28} {left!s:>22}  {right!s:>26}")
    print()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--vacant", required=True, type=Path)
    parser.add_argument("--out", required=True, type=Path)
    parser.add_argument("--suite", default="bookworm")
    parser.add_argument("--mirror", default="")
    args = parser.parse_args()
    out = args.out
    out.mkdir(parents=True, exist_ok=True)
    base = make_base(out, args.suite, args.mirror)
    step("disk (a): a clone of the base")
    disk_a = out / "disk-a.img"
    run("cp", "--sparse=always", base, disk_a)
    step("disk (b): out of blocks that held another tenant's ext4, 4 KiB of each 64 KiB overwritten")
    disk_b, written, regions = make_leaky_disk(out, base, make_tenant(out))
    step(f"scanning both ({regions} recycled blocks in b)")
    a = scan(args.vacant, disk_a, out / "report-a", "--base", base)
    b = scan(args.vacant, disk_b, out / "report-b", "--base", base, "--policy", "in-use", "--written", written)
    print_table(a, b)
    failures = []
    check(failures, "(a) is vacant with exit code 0", a["verdict"] == "vacant" and a["exit"] == 0)
    check(failures, "(b) is residue with exit code 1", b["verdict"] == "residue" and b["exit"] == 1)
    for key in ("foreign_directory_inodes", "foreign_file_systems", "sqlite_databases", "credential_files"):
        check(failures, f"(b) counts {key}", b["summary"][key] > 0)
    print(f"  reports: {out}/report-a.html, {out}/report-b.html (and .json)")
    for name in failures:
        print(f"  NOT AS EXPECTED: {name}")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
