/** The key of a ban: which exit, at which site. */

/** Unambiguous, since neither ids of exits nor sites hold a space. */
export function banKey(ban: { readonly exit: string; readonly site: string | null }): string {
  return `${ban.exit} ${ban.site ?? '*'}`;
}
