import {
  fieldRequired,
  fieldTooMany,
  type CounterSet,
  type DeviceCounterConsumption,
} from '@skerry/api'
import { checkLabelField, checkNotEmpty, type Found } from '../checks.ts'
import type { Loose } from '../typed-strategy.ts'
import { checkDistinct, checkList } from './list-checks.ts'
import { kindsBounds } from '../../limits-table.ts'

const limits = kindsBounds.counterValidation

/** Checks the counters that the devices of a pool share. */
export function checkCounterSets(
  sets: readonly Loose<CounterSet>[],
  path: string,
  found: Found,
): void {
  const isShort = checkList(sets, { field: path, max: limits.sets }, found, (set, field) => {
    const { name = '', counters = {} } = set
    if (checkNotEmpty(name, `${field}.name`, found)) checkLabelField(name, `${field}.name`, found)
    checkCounters(counters, `${field}.counters`, found)
  })
  if (isShort) checkDistinct(sets, path, found, ({ name }) => name ?? '')
}

/** Checks how much one device consumes of them. */
export function checkConsumption(
  consumed: readonly Loose<DeviceCounterConsumption>[],
  path: string,
  found: Found,
): void {
  const limit = { field: path, max: limits.consumptions }
  const isShort = checkList(consumed, limit, found, ({ counterSet = '', counters = {} }, field) => {
    const setField = `${field}.counterSet`
    if (checkNotEmpty(counterSet, setField, found)) checkLabelField(counterSet, setField, found)
    checkCounters(counters, `${field}.counters`, found)
  })
  if (isShort) checkDistinct(consumed, path, found, ({ counterSet }) => counterSet ?? '')
}

function checkCounters(counters: object, field: string, found: Found): void {
  const names = Object.keys(counters)
  if (names.length === 0) found.push(fieldRequired(field))
  else if (names.length > limits.counters) {
    found.push(fieldTooMany(field, names.length, limits.counters))
  } else for (const name of names) checkLabelField(name, field, found)
}
