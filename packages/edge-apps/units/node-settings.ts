import type { Node, Taint } from '@skerry/api'
import { groupsOfUnit, unitWords, type NodeUnit } from './unit.ts'

/** Everything that its units set on a node. */
export interface NodeSettings {
  readonly units: readonly string[]
  /** Labels by which another system's controller shows that it has set the same before. */
  readonly marks: Readonly<Record<string, string>>
  readonly labels: Readonly<Record<string, string>>
  readonly annotations: Readonly<Record<string, string>>
  readonly taints: readonly Taint[]
  readonly isUnschedulable: boolean
}

/** A setting of one unit that another one of the same node forbids. */
export interface SettingConflict {
  readonly unit: string
  /** The setting, e.g. `label hall`. */
  readonly setting: string
  readonly other: string
}

export interface WantedSettings extends NodeSettings {
  readonly conflicts: readonly SettingConflict[]
}

/** Puts the settings of a node's units together. The first unit that sets something wins. */
export function settingsOf(units: readonly NodeUnit[]): WantedSettings {
  const labels = new Settings('label')
  const annotations = new Settings('annotation')
  const taints = new Settings('taint')
  const wanted = new Map<string, Taint>()
  for (const unit of units) {
    const { name = '' } = unit.metadata
    const { setNode = {} } = unit.spec ?? {}
    labels.set(name, name, unitWords.member)
    for (const each of groupsOfUnit(unit)) labels.set(name, each, name)
    for (const [key, value] of Object.entries(setNode.labels ?? {})) labels.set(name, key, value)
    for (const [key, value] of Object.entries(setNode.annotations ?? {})) {
      annotations.set(name, key, value)
    }
    for (const taint of setNode.taints ?? []) {
      const key = taintKey(taint)
      if (!taints.set(name, key, taint.value ?? '')) continue
      const { timeAdded: _added, ...rest } = taint
      wanted.set(key, rest)
    }
  }
  return {
    units: units.map(({ metadata }) => metadata.name ?? ''),
    marks: Object.fromEntries(units.map(({ metadata }) => [metadata.name, unitWords.member])),
    labels: labels.values(),
    annotations: annotations.values(),
    taints: [...wanted.values()],
    isUnschedulable: units.some(({ spec }) => spec?.unschedulable === true),
    conflicts: [labels, annotations, taints].flatMap(({ conflicts }) => conflicts),
  }
}

/** The settings of one sort, each with the unit that was first. */
class Settings {
  readonly conflicts: SettingConflict[] = []
  readonly #sort: string
  readonly #known = new Map<string, { unit: string; value: string }>()

  constructor(sort: string) {
    this.#sort = sort
  }

  /** Returns false if another unit has set something else. */
  set(unit: string, key: string, value: string): boolean {
    const known = this.#known.get(key)
    if (known && known.value !== value) {
      this.conflicts.push({ unit, setting: `${this.#sort} ${key}`, other: known.unit })
      return false
    }
    if (!known) this.#known.set(key, { unit, value })
    return true
  }

  values(): Record<string, string> {
    return Object.fromEntries([...this.#known].map(([key, { value }]) => [key, value]))
  }
}

/** The settings that a node has from its units, and what was there before. */
export interface Remembered {
  readonly units: readonly string[]
  readonly labels: Readonly<Record<string, Kept>>
  readonly annotations: Readonly<Record<string, Kept>>
  readonly taints: Readonly<Record<string, Kept>>
  /** True if the node is unschedulable by its units alone. */
  readonly isCordoned: boolean
}

interface Kept {
  /** The value that was set. */
  readonly to: string
  /** The value before; omitted if there was none. */
  readonly was?: string
}

/** The annotation of a node in which the settings of its units are remembered. */
const unitsAnnotation = 'edge.skerry.io/set-by-units'

const nothing: Remembered = {
  units: [],
  labels: {},
  annotations: {},
  taints: {},
  isCordoned: false,
}

/** Reads the annotation. A text that is not ours counts as nothing: what a person broke is not taken back. */
export function remembered({ metadata }: Node, annotation: string = unitsAnnotation): Remembered {
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

/** Decides how a node gets the settings of its units, and loses exactly those that it no longer has. */
export function planNode(
  node: Node,
  wanted: NodeSettings,
  remembersIn: string = unitsAnnotation,
): NodePatch | undefined {
  const known = remembered(node, remembersIn)
  const { labels = {}, annotations = {} } = node.metadata
  // Other controllers remember nothing: on a node with their label, values that are as wanted are their settings.
  const isMarked = Object.entries(wanted.marks).some(([key, value]) => labels[key] === value)
  const isTakenOver = known.units.length === 0 && isMarked
  const label = planValues(labels, known.labels, wanted.labels, isTakenOver)
  const annotation = planValues(annotations, known.annotations, wanted.annotations, isTakenOver)
  const taint = planTaints(node, known, wanted)
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
  wanted: NodeSettings,
): { patch: { taints?: Taint[] }; kept: Record<string, Kept> } {
  const current = new Map((spec?.taints ?? []).map((each) => [taintKey(each), each]))
  const kept: Record<string, Kept> = {}
  let isChanged = false
  for (const taint of wanted.taints) {
    const key = taintKey(taint)
    const { value: to = '' } = taint
    const had = current.get(key)
    const was = key in known.taints ? known.taints[key]?.was : had && (had.value ?? '')
    kept[key] = was === undefined ? { to } : { to, was }
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
function taintKey({ key, effect }: Taint): string {
  return `${key}:${effect}`
}
