#!/usr/bin/env python3
"""Counts what a scan reports in trees that hold no secret: a Debian base, a Node project with node_modules, a build tree.

Each tree becomes an ext4 image by mke2fs -d and is scanned from inside, so that every live byte is searched and only
credential findings are left. Prints one row a tree, and every finding, since a file that really ships a key is no false alarm.
"""
import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

NODE_PACKAGES = ["express", "typescript", "eslint", "webpack", "lodash"]


def run(*argv, **more):
    done = subprocess.run(list(map(str, argv)), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **more)
    if done.returncode != 0:
        sys.stdout.write(done.stdout.decode(errors="replace"))
        sys.exit(f"{argv[0]} failed with exit code {done.returncode}")


def sizes(tree):
    return [path.lstat().st_size for path in tree.rglob("*") if not path.is_symlink()]


def make_image(tree, image):
    # Small files take a whole block each.
    megabytes = int(sum(4096 + size for size in sizes(tree)) * 1.2 / 2**20) + 128
    run("mke2fs", "-q", "-t", "ext4", "-b", "4096", "-N", "200000", "-d", tree, image, f"{megabytes}M")


def scan(vacant, image):
    done = subprocess.run([str(vacant), "scan", str(image), "--policy", "inside", "--json"], stdout=subprocess.PIPE)
    if done.returncode not in (0, 1, 3):
        sys.exit(f"vacant scan failed with exit code {done.returncode}")
    return json.loads(done.stdout)


def node_tree(work):
    tree = work / "node"
    tree.mkdir()
    (tree / "package.json").write_text('{"name": "clean", "version": "1.0.0", "private": true}')
    run("npm", "install", "--silent", "--no-audit", "--no-fund", *NODE_PACKAGES, cwd=tree)
    return tree


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--vacant", type=Path, default=Path("build/release/cli/vacant"))
    parser.add_argument("--base", type=Path, default=Path("out/base.img"), help="Debian base image (./run makes it)")
    parser.add_argument("--build", type=Path, default=Path("build/release"))
    args = parser.parse_args()
    if not args.base.exists():
        sys.exit(f"{args.base} is not there: ./run makes it, or name another with --base")
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        images = [("Debian base", args.base)]
        if shutil.which("npm"):
            make_image(node_tree(work), work / "node.img")
            images.append(("Node project", work / "node.img"))
        else:
            print("left out: the Node project (no npm here)")
        make_image(args.build, work / "build.img")
        images.append(("build tree", work / "build.img"))
        print(f"{'tree':<14} {'MiB':>6} {'tokens':>7} {'keys':>5} {'files':>6}  verdict")
        for name, image in images:
            report = scan(args.vacant, image)
            summary = report["summary"]
            live = report["class_bytes"]["fs-live"] / 2**20
            print(f"{name:<14} {live:>6.0f} {summary['tokens']:>7} {summary['private_keys']:>5} {summary['credential_files']:>6}  {report['verdict']}")
            for finding in report["findings"]:
                if finding["kind"] in ("token", "private-key", "credential-file"):
                    print(f"    {finding['rule']} ({finding['confidence']}) {finding['place']['path'] or finding['origin']}")


if __name__ == "__main__":
    main()
