/**
 * Turns summaries into text: aligned tables for the terminal, Markdown for the README.
 */
import type { ScenarioSummary, SummaryRow } from './summary.js';

/** With more foreign work than this on the gateway's core (in %), caches are shared and figures grow. */
const MAX_DISTURBED = 10;

/** The lines of one scenario for a terminal. */
export function terminalReport(summary: ScenarioSummary): string {
  const cells = tableOf(summary);
  const widths = (cells[0] ?? []).map((_, column) => Math.max(...cells.map((row) => width(row[column]))));
  const lines = cells.map((row) =>
    row
      .map((cell, column) => {
        const padding = ' '.repeat((widths[column] ?? 0) - width(cell));
        const isText = column === 0 || column === row.length - 1;
        return isText ? cell + padding : padding + cell;
      })
      .join('  ')
      .trimEnd(),
  );
  const mode = summary.isQuick ? ' [quick: not for comparison]' : '';
  return [`\n${summary.name}: ${summary.question}${mode}`, ...lines, ...judgementLines(summary)].join('\n');
}

/** The same as Markdown. */
export function markdownReport(summary: ScenarioSummary): string {
  const [header = [], ...rows] = tableOf(summary);
  const line = (row: readonly string[]): string =>
    `| ${row.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  const rule = header.map((_, column) => (column === 0 || column === header.length - 1 ? '---' : '---:'));
  const mode = summary.isQuick ? ' (quick run)' : '';
  return [
    `### ${summary.name}`,
    '',
    `${summary.question}. Measured ${summary.date.slice(0, 16)}Z${mode}.`,
    '',
    ...[header, rule, ...rows].map(line),
    '',
    ...judgementLines(summary).map((text) => `- ${text}`),
  ].join('\n');
}

function tableOf(summary: ScenarioSummary): string[][] {
  const [first, ...rest] = summary.columns;
  if (first === undefined) return [];
  const header = ['peer', first.title, 'min–max', ...rest.map(({ title }) => title), ''];
  return [header, ...summary.rows.map((row) => rowOf(row, summary))];
}

function rowOf(row: SummaryRow, { columns }: ScenarioSummary): string[] {
  if (row.problem !== undefined) {
    const blanks = Array.from({ length: columns.length + 1 }, () => '–');
    return [row.peer, ...blanks, `${row.wasSkipped === true ? 'skipped' : 'ERROR'}: ${row.problem}`];
  }
  const [first, ...rest] = columns.map(({ key, digits }) => shown(row.medians[key], digits));
  const digits = columns[0]?.digits ?? 0;
  return [
    row.peer,
    first ?? '',
    row.spread.map((value) => shown(value, digits)).join('–'),
    ...rest,
    row.note,
  ];
}

function judgementLines(summary: ScenarioSummary): string[] {
  const worst = Math.max(
    ...summary.rows.map(({ medians }) => medians['disturbed'] ?? 0).filter(Number.isFinite),
  );
  const warning = `other processes held the gateway's core up to ${worst.toFixed(0)} % of the time: compare with care`;
  return [...goalLines(summary), ...(worst > MAX_DISTURBED ? [warning] : [])];
}

function goalLines(summary: ScenarioSummary): string[] {
  return summary.judgements.map(({ goal, verdict, value, limit }) => {
    if (value === undefined || limit === undefined)
      return `goal ${goal}: not judged, a figure is missing in this run`;
    return `goal ${goal}: turnpike ${shown(value, 2)}, limit ${shown(limit, 2)} – ${verdict}`;
  });
}

function shown(value: number | undefined, digits: number): string {
  return value === undefined || Number.isNaN(value) ? '–' : value.toFixed(digits);
}

function width(cell: string | undefined): number {
  return [...(cell ?? '')].length;
}
