/** Reads the texts of Warning headers (RFC 9111, which keeps RFC 7234's form): `299 - "text"`, joined by commas. */
export function readWarnings(header: string): string[] {
  return [...header.matchAll(/\b\d{3} \S+ "((?:[^"\\]|\\.)*)"/g)].map(([, text = '']) =>
    text.replaceAll(/\\(.)/g, '$1'),
  )
}
