import type { AnyObject } from '@skerry/api'
import { nodeApiBounds } from '../limits-table.ts'

const { marksMax } = nodeApiBounds.writeMarks

/** Shown on objects of a node that the control plane has not accepted yet. The value is the node's name. */
export const pendingAnnotation = 'node.skerry.io/not-accepted'

/** Kept by the control plane: the newest entry of each journal that an object contains, as `<journal>/<entry>`. */
export const marksAnnotation = 'node.skerry.io/offline-writes'

/** One entry of one node's journal. */
export interface WriteMark {
  readonly journal: string
  readonly seq: number
}

/** Returns true if the object contains this entry, or a later one of the same journal. */
export function hasMark(object: AnyObject, { journal, seq }: WriteMark): boolean {
  return marksOf(object).some((mark) => mark.journal === journal && mark.seq >= seq)
}

/** Returns the object's annotation with this entry. The marks of other nodes stay, up to a bound. */
export function markedText(object: AnyObject, { journal, seq }: WriteMark): string {
  const others = marksOf(object).filter((mark) => mark.journal !== journal)
  return [...others.slice(1 - marksMax), { journal, seq }]
    .map((mark) => `${mark.journal}/${mark.seq}`)
    .join(' ')
}

/** Returns a copy with the annotation; without it if the value is undefined. */
export function withAnnotation(
  object: AnyObject,
  name: string,
  value: string | undefined,
): AnyObject {
  const { annotations, ...metadata } = object.metadata
  const { [name]: _old, ...others } = annotations ?? {}
  const all = value === undefined ? others : { ...others, [name]: value }
  const has = Object.keys(all).length > 0
  return { ...object, metadata: { ...metadata, ...(has ? { annotations: all } : {}) } }
}

function marksOf(object: AnyObject): WriteMark[] {
  const text = object.metadata.annotations?.[marksAnnotation] ?? ''
  return text.split(' ').flatMap((each) => {
    const [journal = '', seq] = each.split('/')
    return /^\d{1,15}$/.test(seq ?? '') ? [{ journal, seq: Number(seq) }] : []
  })
}
