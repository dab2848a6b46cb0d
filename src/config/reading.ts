/** Looking into a tree that may be wrong anywhere: what is not of the expected kind is not there. */

/** A map of settings, empty where there is none. */
export function mapOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {};
}

/** A list; one value is a list of one, nothing is an empty list. */
export function listOf(value: unknown): readonly unknown[] {
  if (value === undefined || value === null) return [];
  return Array.isArray(value) ? (value as unknown[]) : [value];
}

/** Text, or null. */
export function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

/** The texts of a list, each with its place; places of single values are null. */
export function textsOf(value: unknown): readonly { readonly text: string; readonly index: number | null }[] {
  const isList = Array.isArray(value);
  return listOf(value).flatMap((item, index) =>
    typeof item === 'string' ? [{ text: item, index: isList ? index : null }] : [],
  );
}

/** A part of a URL without its escapes; null where they are wrong. */
export function decoded(part: string): string | null {
  try {
    return decodeURIComponent(part);
  } catch {
    return null;
  }
}
