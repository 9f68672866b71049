//! Matches Sigma rules against events with rsigma, on one thread.
//!
//! Usage: rsigma-peer RULES EVENTS MATCHES. RULES names a Sigma file a line, EVENTS has a JSON object a line, and
//! MATCHES gets a line `event<TAB>rule id` for each match of the first round. Prints seconds of processor time, of this
//! thread, as a JSON object.

use std::fs;
use std::io::{BufWriter, Write};
use std::path::Path;

use rsigma_eval::{Engine, JsonEvent};
use rsigma_parser::parse_sigma_file;
use serde_json::{Value, json};

const ROUNDS: usize = 3;

fn cpu_seconds() -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let files = fs::read_to_string(&arguments[1]).expect("the list of rules");
    let text = fs::read_to_string(&arguments[2]).expect("the events");

    let start = cpu_seconds();
    let mut engine = Engine::new();
    let parsed: Vec<_> = files.lines().map(|file| parse_sigma_file(Path::new(file))).collect();
    let unread = parsed.iter().filter(|collection| collection.is_err()).count();
    let rules = parsed.iter().flatten().flat_map(|collection| &collection.rules);
    let rejected = unread + engine.add_rules(rules).len();
    let loaded = cpu_seconds();
    let (mut parsing, mut matching) = (f64::MAX, f64::MAX);
    let (mut events, mut matches) = (0, 0);
    for round in 0..ROUNDS {
        let start = cpu_seconds();
        let parsed: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).expect("an event")).collect();
        parsing = parsing.min(cpu_seconds() - start);
        let start = cpu_seconds();
        let found: Vec<_> = parsed.iter().map(|event| engine.evaluate(&JsonEvent::borrow(event))).collect();
        matching = matching.min(cpu_seconds() - start);
        if round == 0 {
            let mut out = BufWriter::new(fs::File::create(&arguments[3]).expect("the file for matches"));
            for (event, results) in found.iter().enumerate() {
                for result in results {
                    let id = result.header.rule_id.as_deref().unwrap_or("");
                    writeln!(out, "{event}\t{id}").expect("a match");
                }
                matches += results.len();
            }
            events = parsed.len();
        }
    }
    let figures = json!({
        "rules": engine.rule_count(), "rejected": rejected, "events": events, "matches": matches,
        "load_seconds": loaded - start, "parse_seconds": parsing, "match_seconds": matching,
    });
    println!("{figures}");
}
