/** The last net under secrets: cuts logins out of anything in a text that looks like a URL. */

/** Replaces `//user:password@` by `//[secret]@`, up to the last `@` of the word, since passwords may hold `/` and `@`. */
export function scrub(text: string): string {
  return text.includes('@') ? text.replace(/\/\/[^\s"'<>]*@/g, '//[secret]@') : text;
}
