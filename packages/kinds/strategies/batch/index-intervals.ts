export interface IndexIntervals {
  /** The number of indexes in the text. Omitted if there is an error. */
  readonly count?: number
  readonly error?: string
}

/** Reads text such as `1,3-5,7`, as jobs write completed indexes. */
export function parseIndexIntervals(text: string, completions: number): IndexIntervals {
  if (text === '') return { count: 0 }
  let last = -1
  let count = 0
  for (const interval of text.split(',')) {
    const bounds = parseInterval(interval, completions)
    if (typeof bounds === 'string') return { error: bounds }
    if (last >= bounds.first) {
      return { error: `non-increasing order, previous: ${last}, current: ${bounds.first}` }
    }
    count += bounds.last - bounds.first + 1
    last = bounds.last
  }
  return { count }
}

function parseInterval(
  text: string,
  completions: number,
): { first: number; last: number } | string {
  const limits = text.split('-')
  if (limits.length > 2) {
    return `the fragment ${JSON.stringify(text)} violates the requirement that an index interval can have at most two parts separated by '-'`
  }
  const numbers: number[] = []
  for (const limit of limits) {
    const shown = JSON.stringify(limit)
    if (!/^\+?\d+$/.test(limit)) return `cannot convert string to integer for index: ${shown}`
    if (Number(limit) >= completions) return `too large index: ${shown}`
    numbers.push(Number(limit))
  }
  const [first = 0, last = first] = numbers
  if (numbers.length === 2 && first >= last) {
    return `non-increasing order, previous: ${first}, current: ${last}`
  }
  return { first, last }
}
