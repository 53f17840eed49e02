import { expressions } from '../../expressions/expressions.ts'
import {
  fieldForbidden,
  fieldInvalid,
  fieldRequired,
  fieldTooLong,
  type DeviceSelector,
} from '@skerry/api'
import { isLongerThan, type Found } from '../checks.ts'
import type { Loose } from '../typed-strategy.ts'
import { checkList } from './list-checks.ts'
import { kindsBounds } from '../../limits-table.ts'

const { selectorsMax, expressionBytesMax } = kindsBounds.selectorValidation

export function checkSelectors(
  selectors: readonly Loose<DeviceSelector>[],
  path: string,
  found: Found,
): void {
  checkList(selectors, { field: path, max: selectorsMax }, found, ({ cel }, field) => {
    if (cel) checkExpression(cel.expression ?? '', `${field}.cel.expression`, found)
    else found.push(fieldRequired(`${field}.cel`))
  })
}

function checkExpression(expression: string, field: string, found: Found): void {
  if (isLongerThan(expression, expressionBytesMax)) {
    found.push(fieldTooLong(field, expressionBytesMax))
    return
  }
  const problem = expressions().deviceSelectorProblem(expression)
  if (problem?.type === 'invalid') found.push(fieldInvalid(field, expression, problem.detail))
  if (problem?.type === 'too costly') {
    found.push(fieldForbidden(field, 'too complex, exceeds cost limit'))
  }
}
