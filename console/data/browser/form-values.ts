/** Turns what people type into fields into values of the API's objects. Pure. */

/** Leaves out what nobody has filled in, so that the hub's defaults hold. */
export function filled(
  fields: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  const isFilled = (value: unknown): boolean =>
    value !== undefined && value !== '' && !isEmptyObject(value)
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => isFilled(value)))
}

function isEmptyObject(value: unknown): boolean {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
  return isObject && Object.keys(value).length === 0
}

/** A text other than a number is sent as it is: the hub's answer then names the field. */
export function numberOf(text: string): unknown {
  const trimmed = text.trim()
  if (trimmed === '') return undefined
  return /^\d+$/.test(trimmed) ? Number(trimmed) : trimmed
}

/** Returns undefined if there is no word. */
export function wordsOf(text: string): string[] | undefined {
  const words = text.split(/[\s,]+/).filter(Boolean)
  return words.length === 0 ? undefined : words
}

/** Reads `key=value`, separated by commas, spaces or semicolons. */
export function labelsOf(text: string): Record<string, string> | undefined {
  const words = wordsOf(text.replaceAll(';', ','))
  if (words === undefined) return undefined
  return Object.fromEntries(
    words.map((word) => {
      const at = word.indexOf('=')
      return at < 0 ? [word, ''] : [word.slice(0, at), word.slice(at + 1)]
    }),
  )
}
