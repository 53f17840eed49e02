import type { ResourceInterpreter } from '../interpreter/resource-interpreter.ts'
import type { Templates } from './templates.ts'

/** What all controllers of propagation stand on. */
export interface FleetContext {
  readonly templates: Templates
  readonly interpreter: ResourceInterpreter
}
