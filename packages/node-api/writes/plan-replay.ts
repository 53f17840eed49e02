import {
  equalJson,
  isJsonObject,
  memberOf,
  setMember,
  type AnyObject,
  type JsonObject,
  type Kind,
} from '@skerry/api'
import { mergeThreeWay, printPath, setAtPath, type Clash } from '@skerry/bodies'
import type { ConflictField, ConflictReason, ConflictSide } from '../kinds/conflict.ts'
import { nodeApiBounds } from '../limits-table.ts'
import type { JournaledWrite } from './journaled-write.ts'
import {
  hasMark,
  markedText,
  marksAnnotation,
  pendingAnnotation,
  withAnnotation,
  type WriteMark,
} from './write-marks.ts'

const { valuesBytesMax } = nodeApiBounds.planReplay

export interface ReplayQuestion {
  readonly write: JournaledWrite
  /** The object at the control plane now. Undefined if there is none. */
  readonly cloud: AnyObject | undefined
  readonly kind: Pick<Kind, 'schemas' | 'schemaName' | 'subresources'>
  readonly mark: WriteMark
  /** True if a create of this entry may have reached the control plane before. */
  readonly isSent: boolean
  /** Returns the uid that the control plane gave to an object that was created on the node. */
  readonly givenUid: (local: string) => string | undefined
}

/** The request that brings a write to the control plane. */
export type ReplayAct =
  | { readonly type: 'none' }
  | { readonly type: 'create'; readonly object: AnyObject }
  /** The object must not have changed since `from`. */
  | { readonly type: 'change'; readonly from: AnyObject; readonly next: AnyObject }
  | {
      readonly type: 'apply'
      readonly from: AnyObject
      readonly configuration: AnyObject
      readonly isForced: boolean
    }
  | { readonly type: 'delete'; readonly from: AnyObject }

/** The part of a Conflict that depends on the two sides. */
export interface ReplayConflict {
  readonly reason: ConflictReason
  readonly winner: ConflictSide
  readonly message: string
  readonly fields: readonly ConflictField[]
}

export interface ReplayPlan {
  readonly act: ReplayAct
  /** Omitted if nothing clashed. */
  readonly conflict?: ReplayConflict
  /** True if the control plane has the write already. */
  readonly isDone?: boolean
}

/**
 * Decides how a write that a node accepted becomes one of the control plane: a merge of three versions, with the
 * object as the node last saw it as the base. Every plan that changes an object marks it, so that the same write is
 * recognized there.
 */
export function planReplay(question: ReplayQuestion): ReplayPlan {
  const { write, cloud, mark } = question
  if (cloud && hasMark(cloud, mark)) return { act: { type: 'none' }, isDone: true }
  if (write.edge === undefined) return planDelete(question)
  if (cloud === undefined) return planMissing(question, write.edge)
  return planChange(question, write.edge, cloud)
}

function planDelete({ write, cloud, kind, givenUid }: ReplayQuestion): ReplayPlan {
  const { base } = write
  // Another object has taken the name: the one that was deleted is gone.
  if (cloud === undefined || !isSameObject(base, cloud, givenUid)) return { act: { type: 'none' } }
  const isSeen = base !== undefined && equalJson(ownPart(base, kind), ownPart(cloud, kind))
  if (isSeen) return { act: { type: 'delete', from: cloud } }
  const winner = winnerOf(write, cloud)
  const message = 'the node deleted the object, and the control plane changed it'
  return {
    act: winner === 'edge' ? { type: 'delete', from: cloud } : { type: 'none' },
    conflict: {
      reason: 'Clash',
      winner,
      message,
      fields: wholeFields({ ...write, cloud }, winner),
    },
  }
}

function planMissing(
  { write, kind, mark, isSent, givenUid }: ReplayQuestion,
  edge: AnyObject,
): ReplayPlan {
  const asked = write.applied?.configuration ?? ownPart(edge, kind)
  const made = withMark(withGivenUids(asked, givenUid), mark)
  const values = { ...write, cloud: undefined }
  if (isSent) {
    const message =
      'the node sent the object, got no answer, and the control plane does not have it: it was never made, or was deleted since'
    const fields = wholeFields(values, 'cloud')
    const conflict: ReplayConflict = { reason: 'UnknownOutcome', winner: 'cloud', message, fields }
    return { act: { type: 'none' }, conflict }
  }
  if (write.base === undefined) return { act: { type: 'create', object: made } }
  const winner = write.winner === 'edge' ? 'edge' : 'cloud'
  const message = 'the node changed the object, and the control plane deleted it'
  return {
    act: winner === 'edge' ? { type: 'create', object: made } : { type: 'none' },
    conflict: { reason: 'Clash', winner, message, fields: wholeFields(values, winner) },
  }
}

function planChange(question: ReplayQuestion, edge: AnyObject, cloud: AnyObject): ReplayPlan {
  const { write, kind, mark, givenUid } = question
  const winner = winnerOf(write, cloud)
  const sides = {
    ours: withGivenUids(ownPart(edge, kind), givenUid),
    theirs: ownPart(cloud, kind),
  }
  if (write.base !== undefined && !isSameObject(write.base, cloud, givenUid)) {
    const message = 'the control plane deleted the object and made another one of the same name'
    const fields = wholeFields({ ...write, cloud }, winner)
    const own = winner === 'edge' ? sides.ours : sides.theirs
    const next = withMark(completed(own, cloud), mark, cloud)
    return {
      act: { type: 'change', from: cloud, next },
      conflict: { reason: 'Clash', winner, message, fields },
    }
  }
  const base = write.base && withGivenUids(ownPart(write.base, kind), givenUid)
  const { merged, clashes } = mergeThreeWay(
    { base: base ?? {}, ...sides },
    { schema: { ref: kind.schemaName }, schemas: kind.schemas },
    winner === 'edge' ? 'ours' : 'theirs',
  )
  // Both sides are objects of one name, so that the whole of them does not clash.
  const next = withMark(completed(merged as AnyObject, cloud), mark, cloud)
  return {
    act: write.applied
      ? planApply({ ...question, cloud }, clashes, winner)
      : { type: 'change', from: cloud, next },
    ...(clashes.length > 0 ? { conflict: clashOf(clashes, winner) } : {}),
  }
}

/** An apply stays one, so that its manager owns what it applied. Where the control plane wins, it owns that value. */
function planApply(
  { write, kind, mark, cloud }: ReplayQuestion & { readonly cloud: AnyObject },
  clashes: readonly Clash[],
  winner: ConflictSide,
): ReplayAct {
  const { configuration, isForced = false } = write.applied ?? {}
  const type = { schema: { ref: kind.schemaName }, schemas: kind.schemas }
  const settled = (winner === 'edge' ? [] : clashes).reduce<unknown>(
    (object, { path, theirs }) => setAtPath(object, path, theirs, type),
    configuration,
  )
  // setAtPath keeps what is around the path.
  const applied = withMark(settled as AnyObject, mark, cloud)
  return { type: 'apply', from: cloud, configuration: applied, isForced }
}

function clashOf(clashes: readonly Clash[], winner: ConflictSide): ReplayConflict {
  const places = clashes.map(({ path }) => printPath(path))
  const message = `the node and the control plane both changed ${listText(places)}`
  return { reason: 'Clash', winner, message, fields: fieldsOf(clashes, winner) }
}

function listText(places: readonly string[]): string {
  const shown = places.slice(0, 3).join(', ')
  return places.length > 3 ? `${shown} and ${places.length - 3} more places` : shown
}

/** Returns the whole object of each side as one field. */
export function wholeFields(
  { base, edge, cloud }: Pick<JournaledWrite, 'base' | 'edge'> & { cloud: AnyObject | undefined },
  winner: ConflictSide,
): ConflictField[] {
  return fieldsOf([{ path: [], base, ours: edge, theirs: cloud }], winner)
}

/** Writes values as JSON. If all are too large, those of the side that lost are kept: they are nowhere else. */
function fieldsOf(clashes: readonly Clash[], winner: ConflictSide): ConflictField[] {
  const all = clashes.map(({ path, base, ours, theirs }) => ({
    path: printPath(path),
    ...(path.length === 0 ? {} : { steps: [...path] }),
    ...jsonOf('base', base),
    ...jsonOf('edge', ours),
    ...jsonOf('cloud', theirs),
  }))
  if (JSON.stringify(all).length <= valuesBytesMax) return all
  const lost = winner === 'edge' ? 'cloud' : 'edge'
  return all.map(({ path, steps, [lost]: value }) => ({
    path,
    ...(steps ? { steps } : {}),
    ...(value === undefined ? {} : { [lost]: value }),
  }))
}

/** Returns true if the object as JSON is too large for a value of a Conflict. */
export function isTooLarge(object: AnyObject): boolean {
  return JSON.stringify(JSON.stringify(object)).length > valuesBytesMax
}

function jsonOf(name: 'base' | 'edge' | 'cloud', value: unknown): Partial<ConflictField> {
  return value === undefined ? {} : { [name]: JSON.stringify(value) }
}

/** The newest by the clocks of both sides. A control plane that says no time wins. */
function winnerOf({ winner, atMs }: JournaledWrite, cloud: AnyObject): ConflictSide {
  // The value that loses must fit into a Conflict.
  if (isTooLarge(cloud)) return 'cloud'
  if (winner !== 'newest') return winner
  const times = (cloud.metadata.managedFields ?? []).map(({ time }) => Date.parse(time ?? ''))
  return Math.max(...times.filter((time) => !Number.isNaN(time)), -Infinity) < atMs &&
    times.length > 0
    ? 'edge'
    : 'cloud'
}

function isSameObject(
  base: AnyObject | undefined,
  cloud: AnyObject,
  givenUid: ReplayQuestion['givenUid'],
): boolean {
  const uid = base?.metadata.uid
  if (uid === undefined) return true
  return (givenUid(uid) ?? uid) === cloud.metadata.uid
}

/** The members of metadata that a server keeps for itself. */
const systemMembers: ReadonlySet<string> = new Set([
  'uid',
  'resourceVersion',
  'generation',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'managedFields',
  'selfLink',
])

/** Returns what writers of the object decide: nothing that a server sets, and no status that has its own endpoint. */
function ownPart(object: AnyObject, { subresources }: Pick<Kind, 'subresources'>): AnyObject {
  const bare = withAnnotation(
    withAnnotation(object, pendingAnnotation, undefined),
    marksAnnotation,
    undefined,
  )
  const kept = Object.entries(bare.metadata).filter(([name]) => !systemMembers.has(name))
  const { status, ...rest } = bare
  const hasOwnStatus = status === undefined || subresources.some(({ name }) => name === 'status')
  const whole = hasOwnStatus ? rest : { ...rest, status }
  return {
    ...whole,
    apiVersion: object.apiVersion,
    kind: object.kind,
    metadata: Object.fromEntries(kept),
  }
}

/** Adds what the server keeps to what writers decide. */
function completed(own: AnyObject, { metadata, status }: AnyObject): AnyObject {
  const kept = Object.entries(metadata).filter(([name]) => systemMembers.has(name))
  return {
    ...(status === undefined ? {} : { status }),
    ...own,
    metadata: { ...Object.fromEntries(kept), ...own.metadata },
  }
}

function withMark(object: AnyObject, mark: WriteMark, cloud = object): AnyObject {
  return withAnnotation(object, marksAnnotation, markedText(cloud, mark))
}

/** Owners that were created on the node have another uid at the control plane. */
function withGivenUids(object: AnyObject, givenUid: ReplayQuestion['givenUid']): AnyObject {
  const { ownerReferences } = object.metadata
  if (!ownerReferences) return object
  const given = ownerReferences.map((each) => ({ ...each, uid: givenUid(each.uid) ?? each.uid }))
  return { ...object, metadata: { ...object.metadata, ownerReferences: given } }
}

/** Returns the merge patch (RFC 7386) that leads from one object to another. Lists are replaced as a whole. */
export function mergePatchOf(from: JsonObject, to: JsonObject): JsonObject {
  const patch: JsonObject = {}
  for (const key of Object.keys(from)) {
    if (memberOf(to, key) === undefined) setMember(patch, key, null)
  }
  for (const [key, value] of Object.entries(to)) {
    const before = memberOf(from, key)
    if (value === undefined || equalJson(before, value)) continue
    const areMaps = isJsonObject(before) && isJsonObject(value)
    setMember(patch, key, areMaps ? mergePatchOf(before, value) : value)
  }
  return patch
}
