import type { Taint } from '@skerry/api'
import { taintKey, type NodeSettings } from '../nodes/node-settings.ts'
import { groupsOfUnit, setNodeOf, unitWords, type NodeUnit } from './unit.ts'

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
    const setNode = setNodeOf(unit)
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
