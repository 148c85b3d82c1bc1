fn main() {
    let a: Vec<String> = std::env::args().collect();
    let text = std::fs::read_to_string(&a[1]).unwrap();
    let mut c = sbl::Compiler::new().file(&a[1]);
    if let Some(m) = a.get(3) {
        c = c.infer(m);
    }
    let model = match c.compile(&text) {
        Ok(m) => m,
        Err(e) => {
            println!("{e}");
            return;
        }
    };
    let csv = std::fs::read_to_string(&a[2]).unwrap();
    let mut lines = csv.lines();
    let head: Vec<&str> = lines.next().unwrap().split(',').collect();
    let rows: Vec<Vec<&str>> = lines.map(|l| l.split(',').collect()).collect();
    let mut data = sbl::Data::new();
    for (j, h) in head.iter().enumerate() {
        let col: Vec<&str> = rows.iter().map(|r| r[j]).collect();
        let nums: Result<Vec<f64>, _> = col.iter().map(|c| c.parse::<f64>()).collect();
        data = match nums {
            Ok(v) => data.vector(h, &v).unwrap(),
            Err(_) => data.words(h, &col).unwrap(),
        };
    }
    match model.fit(&data, &sbl::Options::default()) {
        Ok(f) => {
            println!("{}", serde_json::to_string_pretty(&f.to_json()).unwrap());
            let b = f.to_bytes().unwrap();
            let g = sbl::Fit::from_bytes(&b, "x").unwrap();
            let p = f.predict(&data).unwrap();
            let q = g.predict(&data).unwrap();
            assert_eq!(p, q);
            println!(
                "{:?}\n{} bytes; {}",
                &p.mean()[..3],
                b.len(),
                serde_json::to_string(&f.score(&data).unwrap()).unwrap()
            );
        }
        Err(e) => println!("{e}"),
    }
}
