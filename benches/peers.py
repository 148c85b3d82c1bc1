#!/usr/bin/env python3
"""sbl beside other programs on the same inputs, in one run.

    benches/peers.py [--venv DIR] [--budget SECONDS] [--binary FILE] [FILTER]

Builds the bench `fits`, lets it write its inputs as CSV, installs the other programs into a virtual
environment (fastrvm 0.1.5, the fastest we know; scikit-learn's ARDRegression for linear models), and
times each fit from data in memory, one thread, several times; the smallest time counts, which other work on
the machine disturbs least. Prints a table with the ratio, theirs over ours. Compare figures of one run only.
"""
import argparse, csv, json, os, pathlib, re, statistics, subprocess, sys, tempfile, time

PACKAGES = ["numpy==2.4.6", "fastrvm==0.1.5", "scikit-learn==1.9.1"]
ROOT = pathlib.Path(__file__).resolve().parent.parent


def main():
    parse = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parse.add_argument("filter", nargs="?", default="")
    parse.add_argument("--venv", default=str(ROOT / "target" / "peers"))
    parse.add_argument("--binary", help="the bench, already built")
    parse.add_argument("--budget", type=float, default=20.0, help="seconds for each program on each input")
    parse.add_argument("--one", nargs=2, metavar=("PEER", "CSV"), help=argparse.SUPPRESS)
    args = parse.parse_args()
    if args.one:
        print(json.dumps(one(args.one[0], args.one[1], args.budget)))
        return
    python = pathlib.Path(args.venv) / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", args.venv], check=True)
    subprocess.run([python, "-m", "pip", "install", "-q", *PACKAGES], check=True)
    bench = [args.binary] if args.binary else ["cargo", "bench", "-q", "--bench", "fits", "--"]
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([*bench, "--write", folder], cwd=ROOT, check=True)
        rows = []
        for path in sorted(pathlib.Path(folder).glob("*.csv"), key=lambda p: p.stat().st_size):
            name = path.stem.replace("_", " ")
            if name.startswith("linear"):
                name = "linear " + path.stem.split("_", 1)[1].replace("_", "×")
            if args.filter not in name + " ":
                continue
            ours = {}
            for line in subprocess.run([*bench, name + " "], cwd=ROOT, check=True, text=True,
                                       capture_output=True).stdout.splitlines():
                found = re.match(r"(.*?) (sequential|evidence)\s+min\s+([\d.]+) ms\s+median\s+([\d.]+) ms\s+kept\s+(\d+)\s+noise sd ([\d.]+)", line)
                if found:
                    ours[found[2]] = dict(min=float(found[3]), median=float(found[4]), kept=int(found[5]), noise=float(found[6]))
            peers = ["fastrvm"] + (["ARDRegression"] if name.startswith("linear") else [])
            for peer in peers:
                env = dict(os.environ, OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1")
                ran = subprocess.run([python, __file__, "--budget", str(args.budget), "--one", peer, path],
                                     env=env, text=True, capture_output=True)
                theirs = json.loads(ran.stdout) if ran.returncode == 0 and ran.stdout else None
                for schedule, our in ours.items():
                    row(name, schedule, our, peer, theirs)
                    sys.stdout.flush()


def row(name, schedule, our, peer, their):
    ours = f"| {name} | {schedule} {our['min']:.2f} ms, {our['kept']} kept, noise {our['noise']:.4f}"
    if their is None:
        print(f"{ours} | {peer}: failed | – |")
    else:
        print(f"{ours} | {peer} {their['min']:.2f} ms, {their['kept']} kept, noise {their['noise']:.4f} "
              f"| {their['min'] / our['min']:.2f} |")


def one(peer, path, budget):
    import numpy as np
    table = np.loadtxt(path, delimiter=",", skiprows=1)
    x, t = np.ascontiguousarray(table[:, :-1]), np.ascontiguousarray(table[:, -1])
    kernel = "sinc" in os.path.basename(path)
    if peer == "ARDRegression":
        from sklearn.linear_model import ARDRegression
        fit = lambda: ARDRegression().fit(x, t)
        told = lambda m: (int(np.sum(m.coef_ != 0)), float(m.alpha_ ** -0.5))
    elif kernel:
        import fastrvm
        fit = lambda: fastrvm.RVR(kernel="rbf", gamma=1 / 9, fit_intercept=True).fit(x, t)
        told = lambda m: (int(m.n_relevance_), float(m.beta_ ** -0.5))
    else:
        # its public class takes kernels only
        from fastrvm import _sparsebayes_bindings as B
        fit = lambda: B.SparseBayes(B.Likelihood.Gaussian, 10000, True, False, False, True, False, None).inference(x, t)
        told = lambda r: (int(np.size(r["relevant_idx"])), float(r["beta"] ** -0.5))
    times, start = [], time.perf_counter()
    while len(times) < 7 and (not times or time.perf_counter() - start + min(times) < budget):
        begin = time.perf_counter()
        model = fit()
        times.append(time.perf_counter() - begin)
    kept, noise = told(model)
    return dict(min=1e3 * min(times), median=1e3 * statistics.median(times), kept=kept, noise=noise)


if __name__ == "__main__":
    main()
