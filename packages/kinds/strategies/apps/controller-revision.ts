import { fieldRequired, isJsonObject, type ControllerRevision, type StatusCause } from '@skerry/api'
import { checkNonNegative, checkUnchanged, type Found } from '../checks.ts'
import { strategyOf, type LooseObject } from '../typed-strategy.ts'

export const controllerRevisionStrategy = strategyOf<ControllerRevision>({
  hasGeneration: false,
  defaults(revision) {
    revision.revision ??= 0
  },
  validate: validateRevision,
  validateUpdate(next, old) {
    const found: Found = []
    checkNonNegative(next.revision, 'revision', found)
    checkUnchanged(next.data, old.data, 'data', found)
    return found
  },
})

function validateRevision(revision: LooseObject<ControllerRevision>): StatusCause[] {
  const found: Found = []
  const { data } = revision
  checkNonNegative(revision.revision, 'revision', found)
  if (data === undefined || data === null) found.push(fieldRequired('data', 'data is mandatory'))
  else if (!isJsonObject(data)) {
    found.push(fieldRequired('data', 'data must be a valid JSON object'))
  }
  return found
}
