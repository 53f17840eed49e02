import type { TenantRules } from '@skerry/karmada-kinds'
import type { ResourceInterpreter } from '@skerry/interpreter'
import type { Templates } from './templates.ts'

/** The dependencies that all controllers of propagation share. */
export interface FleetContext {
  readonly templates: Templates
  readonly interpreter: ResourceInterpreter
  /** The rules for what writers of one namespace may do to others. */
  readonly rules: TenantRules
}
