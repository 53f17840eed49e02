const reserved: ReadonlySet<string> = new Set(
  `true false null in as break const continue else for function if import let loop package
  namespace return var void while`.split(/\s+/),
)

const escapes: Readonly<Record<string, string>> = Object.freeze({
  __: '__underscores__',
  '.': '__dot__',
  '-': '__dash__',
  '/': '__slash__',
})

/** Returns a property's name in expressions, or undefined if no expression can name it. */
export function escapeFieldName(name: string): string | undefined {
  if (!/^[A-Za-z_./-][A-Za-z0-9_./-]*$/.test(name)) return undefined
  if (reserved.has(name)) return `__${name}__`
  return name.replaceAll(/__|[-./]/g, (part) => escapes[part] ?? part)
}

/** Returns true for reserved words that may follow a dot unescaped, in addition to their escaped form. */
export function isNameAfterDot(name: string): boolean {
  return reserved.has(name) && !['true', 'false', 'null', 'in'].includes(name)
}
