#!/usr/bin/env python3
"""sbl beside other programs on the same inputs, in one run.

    benches/peers.py [--venv DIR] [--budget SECONDS] [--binary FILE] [FILTER]

Builds the bench `fits`, lets it write its inputs as CSV, installs the other programs into a virtual
environment (fastrvm 0.1.5, the fastest we know, for regression and two classes; scikit-learn's
ARDRegression for linear models; bayespy's mean field; for ordered levels, where no relevance vector
package installs, the proportional-odds model of mord and the probit model of statsmodels on the quadratic
terms of the inputs), and times each fit from data in memory, one thread, several times; the smallest time counts, which other work on
the machine disturbs least. Prints a table with the ratio, theirs over ours. Compare figures of one run only.
"""
import argparse, json, os, pathlib, re, subprocess, sys, tempfile, time

PACKAGES = ["numpy==2.4.6", "fastrvm==0.1.5", "scikit-learn==1.9.1", "scipy==1.17.1", "bayespy==0.6.6",
            "mord==0.7", "statsmodels==0.15.0"]
PEERS = {"sinc": ["fastrvm"], "linear": ["fastrvm", "ARDRegression"], "classes": ["fastrvm"],
         "ordered": ["mord", "statsmodels"], "field": ["bayespy"]}
LINE = re.compile(r"(.*?) (sequential|evidence|laplace|variational)\s+min\s+([\d.]+) ms\s+median\s+([\d.]+) ms"
                  r"\s+kept\s+(\d+)\s+noise sd (\S+)\s+log evidence (\S+)")
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
                found = LINE.match(line)
                if found:
                    ours[found[2]] = dict(min=float(found[3]), kept=int(found[5]), noise=float(found[6]), objective=float(found[7]))
            for peer in PEERS[name.split()[0]]:
                env = dict(os.environ, OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1")
                try:
                    ran = subprocess.run([python, __file__, "--budget", str(args.budget), "--one", peer, path],
                                         env=env, text=True, capture_output=True, timeout=10 * args.budget)
                except subprocess.TimeoutExpired:
                    ran = subprocess.CompletedProcess([], 1)
                theirs = json.loads(ran.stdout) if ran.returncode == 0 and ran.stdout else None
                for schedule, our in ours.items():
                    row(name, schedule, our, peer, theirs)
                    sys.stdout.flush()


def row(name, schedule, our, peer, their):
    ours = f"| {name} | {schedule} {our['min']:.2f} ms{told(our)}"
    if their is None:
        print(f"{ours} | {peer}: failed or too slow | – |")
    else:
        print(f"{ours} | {peer} {their['min']:.2f} ms{told(their)} | {their['min'] / our['min']:.2f} |")


def told(fit):
    parts = [f"{fit['kept']} kept"] if fit.get("kept") is not None else []
    if fit.get("noise") is not None and fit["noise"] == fit["noise"]:
        parts.append(f"noise {fit['noise']:.4f}")
    if fit.get("objective") is not None:
        parts.append(f"objective {fit['objective']:.2f}")
    return "".join(", " + part for part in parts)


def one(peer, path, budget):
    """Times one program on one input; returns its smallest time in ms and what it found."""
    import numpy as np
    table = np.loadtxt(path, delimiter=",", skiprows=1)
    x, t = np.ascontiguousarray(table[:, :-1]), np.ascontiguousarray(table[:, -1])
    kind = os.path.basename(path).split("_")[0]
    fit, found = PROGRAMS[peer](kind, x, t)
    times, start = [], time.perf_counter()
    while len(times) < 7 and (not times or time.perf_counter() - start + min(times) < budget):
        begin = time.perf_counter()
        model = fit()
        times.append(time.perf_counter() - begin)
    return dict(min=1e3 * min(times), **found(model))


def fastrvm(kind, x, t):
    import fastrvm
    if kind == "sinc":
        return (lambda: fastrvm.RVR(kernel="rbf", gamma=1 / 9, fit_intercept=True).fit(x, t),
                lambda m: dict(kept=int(m.n_relevance_), noise=float(m.beta_ ** -0.5)))
    if kind == "classes":
        return (lambda: fastrvm.RVC(kernel="rbf", gamma=4.0, fit_intercept=True).fit(x, t.astype(int)),
                lambda m: dict(kept=int(m.n_relevance_ if not hasattr(m.n_relevance_, "__len__") else sum(m.n_relevance_))))
    # its public class takes kernels only
    from fastrvm import _sparsebayes_bindings as B
    import numpy as np
    return (lambda: B.SparseBayes(B.Likelihood.Gaussian, 10000, True, False, False, True, False, None).inference(x, t),
            lambda r: dict(kept=int(np.size(r["relevant_idx"])), noise=float(r["beta"] ** -0.5)))


def ard_regression(kind, x, t):
    from sklearn.linear_model import ARDRegression
    return (lambda: ARDRegression().fit(x, t),
            lambda m: dict(kept=int((m.coef_ != 0).sum()), noise=float(m.alpha_ ** -0.5)))


def bayespy(kind, x, t):
    """The same model and priors as ours, run to its own relative tolerance of 1e-5 (it stops earlier)."""
    import numpy as np
    from bayespy.inference import VB
    from bayespy.nodes import Gamma, GaussianARD, SumMultiply
    n = len(t)

    def fit():
        phi = np.c_[np.ones(n), np.exp(-((x - x.T) / 3) ** 2)]
        alpha, tau = Gamma(1e-6, 1e-6, plates=(n + 1,)), Gamma(1e-6, 1e-6)
        w = GaussianARD(0, alpha, shape=(n + 1,))
        y = GaussianARD(SumMultiply("i,i", w, phi), tau)
        y.observe(t)
        q = VB(y, w, alpha, tau)
        q.update(repeat=200, verbose=False, tol=1e-5)
        return q, tau

    def found(model):
        q, tau = model
        bound = q.L[~np.isnan(q.L)]
        return dict(noise=float(tau.get_moments()[0] ** -0.5), objective=float(bound[-1]))

    return fit, found


def quadratic(x):
    import numpy as np
    return np.c_[x, x[:, 0] ** 2, x[:, 1] ** 2, x[:, 0] * x[:, 1]]


def mord(kind, x, t):
    import mord
    phi = quadratic(x)
    return lambda: mord.LogisticAT(alpha=1.0).fit(phi, t.astype(int)), lambda m: dict(kept=int(phi.shape[1]))


def statsmodels(kind, x, t):
    from statsmodels.miscmodels.ordinal_model import OrderedModel
    phi = quadratic(x)
    return (lambda: OrderedModel(t.astype(int), phi, distr="probit").fit(method="bfgs", disp=False),
            lambda m: dict(kept=int(phi.shape[1]), objective=float(m.llf)))


PROGRAMS = {"fastrvm": fastrvm, "ARDRegression": ard_regression, "bayespy": bayespy, "mord": mord, "statsmodels": statsmodels}


if __name__ == "__main__":
    main()
