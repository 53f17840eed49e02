import type { Column, AnyObject } from '@skerry/api'
import type { TableRowCondition } from './table.ts'
import { appsColumns } from './apps-columns-table.ts'
import { autoscalingColumns } from './autoscaling-columns-table.ts'
import { coreColumns } from './core-columns-table.ts'
import { networkingColumns } from './networking-columns-table.ts'
import { podRowConditions } from './pod-cells.ts'
import { policyColumns } from './policy-columns-table.ts'
import { storageColumns } from './storage-columns-table.ts'

/** Printer columns keyed `group/Kind`, core kinds as `/Pod`. Other kinds show the defaults. */
export const columns: Readonly<Record<string, readonly Column[]>> = Object.freeze({
  ...coreColumns,
  ...appsColumns,
  ...autoscalingColumns,
  ...networkingColumns,
  ...policyColumns,
  ...storageColumns,
})

/** The conditions of a whole row, for the kinds that have any. */
export const rowConditions: Readonly<Record<string, (object: AnyObject) => TableRowCondition[]>> =
  Object.freeze({ '/Pod': podRowConditions })
