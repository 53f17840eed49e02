/**
 * api: Kubernetes' kinds as data. Schemas, defaults, validation, labels, quantities, patches and
 * Status. Pure: no I/O and no node: imports, so that the console can use it too.
 * Start reading at kind.ts (what a kind is), then schema.ts.
 */
export type * from './object.ts'
export type * from './generated/types.ts'
export type { Schema, SchemaSet } from './schema.ts'
export type { Column, Kind, NameRule, Strategy, StrategyContext, Subresource } from './kind.ts'
export {
  StatusError,
  codeOfReason,
  isStatusError,
  type Status,
  type StatusCause,
  type StatusDetails,
  type StatusReason,
} from './status-error.ts'
export { strategies } from './strategies/strategy-table.ts'
