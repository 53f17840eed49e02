/**
 * kinds: every kind that Kubernetes serves, as data: strategies (defaults, validation, rules of
 * updates), columns, and the rules of custom resources. Pure: no I/O and no node: imports. It stores
 * nothing and answers no request.
 * Start reading at builtin-kinds.ts, then strategy-table.ts; custom-resource-kinds.ts makes kinds from
 * CRDs.
 */
export { strategies } from './strategy-table.ts'
export {
  claimFromV1,
  claimTemplateFromV1,
  claimTemplateToV1,
  claimToV1,
  sliceFromV1,
  sliceToV1,
} from './strategies/resource/device-versions.ts'
export { builtinKinds } from './builtin-kinds.ts'
export { parseSwitches, type KindSwitches } from './kind-switches.ts'
export { partialObjectMetadata, tableOf, type Table, type TableRow } from './columns/table.ts'
export { compareVersions, discoveryOrder } from './kind-order.ts'
export { kindsOfCustomResource } from './custom-resource-kinds.ts'
export { evaluateJsonPath, parseJsonPath } from './columns/json-path.ts'
export { defaultColumns } from './columns/column.ts'
export { selectableFieldValue } from './selectable-field-table.ts'
export {
  autoscalerFromVersion2,
  autoscalerToVersion2,
} from './strategies/autoscaling/autoscaler-versions.ts'
export {
  validateStructural,
  validateStructuralStatusUpdate,
  validateStructuralUpdate,
} from './structural/validate.ts'
export { expressions, loadExpressions } from './expressions/expressions.ts'
export { includesCidr, includesIp, ipText, networkOf, parseCidr, parseIp } from './addresses/ip.ts'
export { cidrLibrary, ipLibrary } from './cel/address-library.ts'
export { kubernetesEnvironment } from './cel/compiled-rule.ts'
export { type RuleSet } from './cel/rule-set.ts'
export { defaultStructural, pruneStructural } from './structural/prune.ts'
export { checkCustomMetadata } from './structural/custom-metadata.ts'
export { checkWebhookClient } from './strategies/webhook-client-checks.ts'
export {
  compileExpression,
  compileVariables,
  expressionResults,
  typeIssues,
  variablesTypeName,
  type Compiled,
  type Declarations,
  type NamedExpression,
} from './admission-cel/admission-environment.ts'
export {
  authorizerValue,
  resourceCheckValue,
  type AccessCheck,
  type CheckAnswers,
  type CheckedDecision,
} from './cel/authorizer-library.ts'
export { objectRoot } from './admission-cel/patch-types.ts'
export { typedSchema, type TypedSchema } from './admission-cel/typed-schema.ts'
export { pemBlocks } from './strategies/pem-text.ts'
