import type { Node, Taint } from '@skerry/api'

/** Everything that the sets of nodes to which a node belongs set on it. */
export interface NodeSettings {
  /** The names of these sets. */
  readonly units: readonly string[]
  /** Labels by which another program's controller shows that it has set the same before. */
  readonly marks: Readonly<Record<string, string>>
  readonly labels: Readonly<Record<string, string>>
  readonly annotations: Readonly<Record<string, string>>
  readonly taints: readonly Taint[]
  readonly isUnschedulable: boolean
}

/** The settings that a node has from its sets, and what was there before; the form of the annotation. */
export interface Remembered {
  readonly units: readonly string[]
  readonly labels: Readonly<Record<string, Kept>>
  readonly annotations: Readonly<Record<string, Kept>>
  readonly taints: Readonly<Record<string, Kept>>
  /** True if the node is unschedulable only because its sets say so. */
  readonly isCordoned: boolean
}

interface Kept {
  /** The value that was set. */
  readonly to: string
  /** The value before; omitted if there was none. */
  readonly was?: string
}

const nothing: Remembered = {
  units: [],
  labels: {},
  annotations: {},
  taints: {},
  isCordoned: false,
}

/** Reads the annotation. A text that is not ours counts as nothing: what a person broke is not taken back. */
export function remembered({ metadata }: Node, annotation: string): Remembered {
  const text = metadata.annotations?.[annotation]
  if (text === undefined) return nothing
  try {
    const read: unknown = JSON.parse(text)
    // This program writes the annotation; a field that is missing is added by the defaults.
    return typeof read === 'object' && read !== null
      ? { ...nothing, ...(read as Partial<Remembered>) }
      : nothing
  } catch {
    return nothing
  }
}

/** A merge patch of the node, or undefined if it is as wanted. */
export interface NodePatch {
  readonly metadata: {
    readonly labels: Readonly<Record<string, string | null>>
    readonly annotations: Readonly<Record<string, string | null>>
  }
  readonly spec: { readonly taints?: Taint[]; readonly unschedulable?: boolean | null }
}

/** Decides how a node gets the settings of its sets, and loses exactly those that it no longer has. */
export function planNode(
  node: Node,
  wanted: NodeSettings,
  remembersIn: string,
): NodePatch | undefined {
  const known = remembered(node, remembersIn)
  const { labels = {}, annotations = {} } = node.metadata
  // On a node with the mark of another controller, values that are as wanted are what that controller has set.
  const isMarked = Object.entries(wanted.marks).some(([key, value]) => labels[key] === value)
  const isTakenOver = known.units.length === 0 && isMarked
  const label = planValues(labels, known.labels, wanted.labels, isTakenOver)
  const annotation = planValues(annotations, known.annotations, wanted.annotations, isTakenOver)
  const taint = planTaints(node, known, { wanted: wanted.taints, isTakenOver })
  const cordon = planCordon(node, known, wanted)
  const next: Remembered = {
    units: wanted.units,
    labels: label.kept,
    annotations: annotation.kept,
    taints: taint.kept,
    isCordoned: cordon.isCordoned,
  }
  const text = wanted.units.length === 0 ? null : JSON.stringify(next)
  const noted: Record<string, string | null> =
    text === (annotations[remembersIn] ?? null) ? {} : { [remembersIn]: text }
  const patch = {
    metadata: { labels: label.patch, annotations: { ...annotation.patch, ...noted } },
    spec: { ...taint.patch, ...cordon.patch },
  }
  const parts = [patch.metadata.labels, patch.metadata.annotations, patch.spec]
  return parts.some((part) => Object.keys(part).length > 0) ? patch : undefined
}

interface ValuesPlan {
  readonly patch: Record<string, string | null>
  readonly kept: Record<string, Kept>
}

function planValues(
  current: Readonly<Record<string, string>>,
  known: Readonly<Record<string, Kept>>,
  wanted: Readonly<Record<string, string>>,
  isTakenOver: boolean,
): ValuesPlan {
  const patch: Record<string, string | null> = {}
  const kept: Record<string, Kept> = {}
  for (const [key, to] of Object.entries(wanted)) {
    const before = key in known ? known[key]?.was : current[key]
    const isNothing = before === undefined || (isTakenOver && before === to)
    kept[key] = isNothing ? { to } : { to, was: before }
    if (current[key] !== to) patch[key] = to
  }
  for (const [key, { to, was }] of Object.entries(known)) {
    // A value that somebody has changed since is not ours to take back.
    if (!(key in wanted) && current[key] === to && was !== to) patch[key] = was ?? null
  }
  return { patch, kept }
}

function planTaints(
  { spec }: Node,
  known: Remembered,
  { wanted, isTakenOver }: { readonly wanted: readonly Taint[]; readonly isTakenOver: boolean },
): { patch: { taints?: Taint[] }; kept: Record<string, Kept> } {
  const current = new Map((spec?.taints ?? []).map((each) => [taintKey(each), each]))
  const kept: Record<string, Kept> = {}
  let isChanged = false
  for (const taint of wanted) {
    const key = taintKey(taint)
    const { value: to = '' } = taint
    const had = current.get(key)
    const was = key in known.taints ? known.taints[key]?.was : had && (had.value ?? '')
    kept[key] = was === undefined || (isTakenOver && was === to) ? { to } : { to, was }
    if (had && (had.value ?? '') === to) continue
    isChanged = true
    current.set(key, taint)
  }
  for (const [key, { to, was }] of Object.entries(known.taints)) {
    const had = current.get(key)
    if (key in kept || !had || (had.value ?? '') !== to || was === to) continue
    isChanged = true
    if (was === undefined) current.delete(key)
    else current.set(key, { ...had, value: was })
  }
  return { patch: isChanged ? { taints: [...current.values()] } : {}, kept }
}

function planCordon(
  { spec }: Node,
  known: Remembered,
  wanted: NodeSettings,
): { patch: { unschedulable?: boolean | null }; isCordoned: boolean } {
  const isNow = spec?.unschedulable === true
  if (wanted.isUnschedulable) {
    // A node that a person had cordoned before stays so afterwards.
    const isCordoned = known.isCordoned || !isNow
    return { patch: isNow ? {} : { unschedulable: true }, isCordoned }
  }
  return { patch: known.isCordoned && isNow ? { unschedulable: null } : {}, isCordoned: false }
}

/** A node has one taint of a key and an effect. */
export function taintKey({ key, effect }: Taint): string {
  return `${key}:${effect}`
}
