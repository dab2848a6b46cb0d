/**
 * Counting and its text form. prom-client hashes and checks labels at every operation, which at nine operations an
 * exchange costs more than the rest of the telemetry together; here a series is found once and then only added to.
 */
import type { MetricRow } from './metric-table.js';

/** A family of more series than this is a mistake: what comes later is counted under `other`. */
const mostSeries = 2000;

const escaped = (value: string): string =>
  value.replace(/[\\"\n]/g, (found) => (found === '\n' ? '\\n' : `\\${found}`));

function labelText(names: readonly string[], values: readonly string[]): string {
  return names.map((name, index) => `${name}="${escaped(values[index] ?? '')}"`).join(',');
}

const braces = (labels: string): string => (labels === '' ? '' : `{${labels}}`);

const head = (name: string, row: MetricRow): string =>
  `# HELP ${name} ${row.help}\n# TYPE ${name} ${row.type}\n`;

/** Series of one metric by their label values. */
class Family<Series> {
  private readonly series = new Map<string, Series>();

  constructor(
    readonly name: string,
    readonly row: MetricRow,
    private readonly make: (labels: string) => Series,
  ) {}

  /** The series with these label values, made at first sight. */
  of(values: readonly string[]): Series {
    const key = values.length === 1 ? (values[0] ?? '') : values.join('\n');
    const known = this.series.get(key);
    if (known !== undefined) return known;
    if (this.series.size >= mostSeries) return this.overflow();
    const made = this.make(labelText(this.row.labels, values));
    this.series.set(key, made);
    return made;
  }

  all(): Iterable<Series> {
    return this.series.values();
  }

  private overflow(): Series {
    const key = '(other)';
    const known = this.series.get(key);
    if (known !== undefined) return known;
    const made = this.make(
      labelText(
        this.row.labels,
        this.row.labels.map(() => 'other'),
      ),
    );
    this.series.set(key, made);
    return made;
  }
}

/** A number that only grows. */
export interface Count {
  readonly labels: string;
  value: number;
}

/** Counters of one name. */
export class Counters {
  private readonly family: Family<Count>;

  constructor(name: string, row: MetricRow) {
    this.family = new Family(name, row, (labels) => ({ labels, value: 0 }));
  }

  /** The counter with these label values; keep it to add to it. */
  of(...values: readonly string[]): Count {
    return this.family.of(values);
  }

  text(): string {
    const { name, row } = this.family;
    let text = head(name, row);
    for (const { labels, value } of this.family.all()) text += `${name}${braces(labels)} ${value}\n`;
    return text;
  }
}

/** How often values fell under each bound. */
export class Histogram {
  private readonly counts: Float64Array;
  private sum = 0;
  private count = 0;

  constructor(
    private readonly labels: string,
    private readonly bounds: readonly number[],
  ) {
    this.counts = new Float64Array(bounds.length);
  }

  /** Counts one value. */
  observe(value: number): void {
    this.sum += value;
    this.count += 1;
    for (let index = 0; index < this.bounds.length; index += 1) {
      if (value <= (this.bounds[index] ?? Infinity)) {
        this.counts[index] = (this.counts[index] ?? 0) + 1;
        return;
      }
    }
  }

  text(name: string): string {
    const before = this.labels === '' ? '' : `${this.labels},`;
    let below = 0;
    let text = '';
    this.bounds.forEach((bound, index) => {
      below += this.counts[index] ?? 0;
      text += `${name}_bucket{${before}le="${bound}"} ${below}\n`;
    });
    text += `${name}_bucket{${before}le="+Inf"} ${this.count}\n`;
    return `${text}${name}_sum${braces(this.labels)} ${this.sum}\n${name}_count${braces(this.labels)} ${this.count}\n`;
  }
}

/** Histograms of one name. */
export class Histograms {
  private readonly family: Family<Histogram>;

  constructor(name: string, row: MetricRow) {
    this.family = new Family(name, row, (labels) => new Histogram(labels, row.buckets ?? []));
  }

  /** The histogram with these label values; keep it to observe with it. */
  of(...values: readonly string[]): Histogram {
    return this.family.of(values);
  }

  text(): string {
    let text = head(this.family.name, this.family.row);
    for (const histogram of this.family.all()) text += histogram.text(this.family.name);
    return text;
  }
}

/** One value of a gauge, asked for when metrics are read. */
export interface Reading {
  readonly labels: readonly string[];
  readonly value: number;
}

/** The text of a metric whose values are asked for now; nothing of what is gone stays. */
export function readingsText(name: string, row: MetricRow, readings: Iterable<Reading>): string {
  let text = head(name, row);
  let left = mostSeries;
  for (const { labels, value } of readings) {
    if (left === 0) break;
    left -= 1;
    text += `${name}${braces(labelText(row.labels, labels))} ${value}\n`;
  }
  return text;
}
