/** Addresses of machines as people write them. Pure. */
import { viewLimits } from '../../limits-table.ts'

const range = /^([^[\]]*)\[(\d{1,5})-(\d{1,5})\]([^[\]]*)$/

/** Returns what a text such as `10.0.0.[11-14]` stands for; anything else stands for itself, and the hub judges it. */
export function expandAddresses(text: string): readonly string[] {
  const [, head = '', first = '', last = '', tail = ''] = range.exec(text) ?? []
  const count = Number(last) - Number(first) + 1
  if (first === '' || !(count >= 1 && count <= viewLimits.machinesMax)) return [text]
  const width = first.startsWith('0') ? first.length : 0
  return Array.from(
    { length: count },
    (_, at) => `${head}${String(Number(first) + at).padStart(width, '0')}${tail}`,
  )
}
