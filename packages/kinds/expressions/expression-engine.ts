/** The part of kinds that needs the Common Expression Language. Import it only through expressions.ts. */
export {
  CelCompileError,
  CelCostError,
  CelRuntimeError,
  celTypes,
  listType,
  mapType,
  objectType,
  patternOf,
} from '@skerry/cel'
export {
  compileExpression,
  compileVariables,
  expressionResults,
} from '../admission-cel/admission-environment.ts'
export { kubernetesEnvironment } from '../cel/compiled-rule.ts'
export { checkRuleTexts, checkRules } from '../cel/check-rules.ts'
export { deviceSelectorProblem } from '../cel/device-selector.ts'
export { compileRuleSet, evaluateRules } from '../cel/rule-set.ts'
