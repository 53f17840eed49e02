/** The words in the path of a page. Pure. */

/**
 * Decodes a word of a path as the router returns it. The router leaves the escapes of reserved characters as they are, such as
 * the colon in the name of a role. Names of the API have no percent sign, so that none is decoded twice.
 */
export function pathWord(word: string): string {
  try {
    return decodeURIComponent(word)
  } catch {
    // Somebody wrote the address by hand: the page says that there is nothing of this name.
    return word
  }
}
