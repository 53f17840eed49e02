import { equalJson, isJsonObject, type AnyObject, type Kind } from '@skerry/api'
import { setAtPath } from '@skerry/bodies'
import type { ConflictField, ConflictSide, ConflictSpec } from '../kinds/conflict.ts'

/** The change of the object that a person's choice brings. */
export type ChoicePlan =
  | { readonly type: 'keep' }
  | { readonly type: 'create' | 'update'; readonly object: AnyObject }
  | { readonly type: 'delete' }
  /** Nothing is done: the reason in words. */
  | { readonly type: 'refuse'; readonly why: string }

export interface Choice {
  readonly side: ConflictSide
  /** True if changes that were made since the Conflict may be lost. */
  readonly isForced: boolean
}

/** Decides how the object gets the values of the chosen side. `current` is the object now, if there is one. */
export function planChoice(
  { reason, winner, fields = [] }: ConflictSpec,
  { side, isForced }: Choice,
  current: AnyObject | undefined,
  kind: Pick<Kind, 'schemas' | 'schemaName'>,
): ChoicePlan {
  if (side === winner) return { type: 'keep' }
  if (reason === 'Damaged') return { type: 'refuse', why: 'the values of the node are lost' }
  const [whole] = fields.filter(({ steps }) => steps === undefined)
  if (whole) return planWhole(whole, { side, isForced }, current)
  if (!current) return { type: 'refuse', why: 'the object is gone' }
  const type = { schema: { ref: kind.schemaName }, schemas: kind.schemas }
  const set = (object: unknown, { steps = [], ...values }: ConflictField, which: ConflictSide) =>
    setAtPath(object, steps, parsed(values[which]), type)
  const changed = fields.filter((field) => !equalJson(set(current, field, winner), current))
  if (changed.length > 0 && !isForced) {
    const places = changed.map(({ path }) => path).join(', ')
    return { type: 'refuse', why: `${places} changed since; --force overwrites the change` }
  }
  const next = fields.reduce<unknown>((object, field) => set(object, field, side), current)
  // setAtPath keeps what is around the path.
  return { type: 'update', object: next as AnyObject }
}

function planWhole(
  field: ConflictField,
  { side, isForced }: Choice,
  current: AnyObject | undefined,
): ChoicePlan {
  const chosen = objectOf(field[side])
  if (!chosen) return current ? { type: 'delete' } : { type: 'keep' }
  const { uid: _uid, resourceVersion: _version, ...metadata } = chosen.metadata
  if (!current) return { type: 'create', object: { ...chosen, metadata } }
  const seen = objectOf(field[side === 'edge' ? 'cloud' : 'edge'])
  const isSame = seen === undefined || seen.metadata.uid === current.metadata.uid
  if (!isSame && !isForced) {
    const why = 'another object has the name by now; --force overwrites it'
    return { type: 'refuse', why }
  }
  const { uid, resourceVersion } = current.metadata
  const own = {
    ...metadata,
    ...(uid ? { uid } : {}),
    ...(resourceVersion ? { resourceVersion } : {}),
  }
  return { type: 'update', object: { ...chosen, metadata: own } }
}

function parsed(text: string | undefined): unknown {
  return text === undefined ? undefined : JSON.parse(text)
}

function objectOf(text: string | undefined): AnyObject | undefined {
  const value = parsed(text)
  // A Conflict has whole objects of the API as a node read or made them.
  return isJsonObject(value) && isJsonObject(value['metadata'])
    ? (value as unknown as AnyObject)
    : undefined
}
