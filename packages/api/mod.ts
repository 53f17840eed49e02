/**
 * api: Kubernetes' kinds as data. Schemas, defaults, validation, labels, quantities, patches and
 * Status. Pure: no I/O and no node: imports, so that the console can use it too.
 * Start reading at kind.ts (what a kind is), then schema.ts.
 */
export type * from './object.ts'
export type * from './generated/types.ts'
export type { Schema, SchemaSet } from './schema.ts'
export type {
  Column,
  Kind,
  NameRule,
  PartUpdate,
  Strategy,
  StrategyContext,
  Subresource,
} from './kind.ts'
export {
  StatusError,
  codeOfReason,
  isErrorCode,
  retryAfterSecondsMax,
  statusDetailsOf,
  isStatusError,
  type Status,
  type StatusCause,
  type StatusDetails,
  type StatusReason,
} from './status-error.ts'
export { strategies } from './strategies/strategy-table.ts'
export {
  claimFromV1,
  claimTemplateFromV1,
  claimTemplateToV1,
  claimToV1,
  sliceFromV1,
  sliceToV1,
} from './strategies/resource/device-versions.ts'
export { builtinKinds, type BuiltinKindsOptions } from './builtin-kinds.ts'
export { parseSwitches, type KindSwitches } from './kind-switches.ts'
export {
  partialObjectMetadata,
  tableOf,
  type PartialObjectMetadata,
  type Table,
  type TableColumnDefinition,
  type TableInput,
  type TableRow,
  type TableRowCondition,
} from './table.ts'
export {
  apiGroup,
  apiGroupList,
  apiResourceList,
  apiVersions,
  groupVersionText,
  storageVersionHash,
  type ApiGroup,
  type ApiResource,
  type ApiResourceList,
  type ApiVersions,
} from './discovery/discovery.ts'
export {
  aggregatedContentType,
  aggregatedDiscovery,
  aggregatedVersionOf,
  type AggregatedVersion,
  type ApiGroupDiscovery,
  type ApiGroupDiscoveryList,
  type ApiResourceDiscovery,
} from './discovery/aggregated-discovery.ts'
export { compareVersions, discoveryOrder } from './discovery/kind-order.ts'
export { customSchemaName, kindsOfCustomResource } from './custom-resource-kinds.ts'
export { evaluateJsonPath, parseJsonPath, type JsonPath } from './columns/json-path.ts'
export type { OpenApiInput } from './openapi/definitions.ts'
export { openApiV2Document } from './openapi/open-api-v2.ts'
export {
  acceptsOpenApiV2Protobuf,
  encodeOpenApiV2Document,
  openApiV2ProtobufType,
} from './openapi/open-api-v2-protobuf.ts'
export { openApiV3Document, openApiV3Hash, openApiV3Index } from './openapi/open-api-v3.ts'
export {
  declarationFileOf,
  loadDescriptions,
  type Descriptions,
  type TypeDescription,
} from './openapi/descriptions.ts'
export { describedLikeAll } from './openapi/custom-definition.ts'
export { defaultColumns } from './columns/column.ts'
export { ageOf, humanDuration } from './columns/human-duration.ts'
export { selectableFieldValue } from './selectable-field-table.ts'
export {
  fieldDuplicate,
  fieldForbidden,
  fieldInvalid,
  fieldNotFound,
  fieldNotSupported,
  fieldRequired,
  fieldTooFew,
  fieldTooLong,
  fieldTooMany,
  fieldTypeInvalid,
  quoteGo,
  type FieldErrorReason,
} from './field-error.ts'
export {
  checkConfigKey,
  checkDns1035Label,
  checkDnsLabel,
  checkDnsSubdomain,
  checkEnvName,
  checkLabelValue,
  checkName,
  checkPathSegment,
  checkPortName,
  checkQualifiedName,
  checkStrictEnvName,
} from './names.ts'
export {
  objectMetaLimits,
  validateAnnotations,
  validateManagerName,
  validateLabels,
  validateMetaForm,
  validateObjectMeta,
  validateObjectMetaUpdate,
  validateOwnFinalizers,
} from './object-meta.ts'
export {
  QuantityError,
  addQuantities,
  canonicalQuantity,
  compareQuantities,
  formatQuantity,
  parseQuantity,
  quantityOf,
  quantityOfMilli,
  quantityToFloat,
  quantityToMilli,
  quantityToNumber,
  subtractQuantities,
  type Quantity,
  type QuantityFormat,
} from './quantity.ts'
export { formatDurationMs, parseDurationMs } from './duration.ts'
export {
  LabelSelector,
  everyLabelSelector,
  labelSelectorOf,
  labelSelectorOfMap,
  noLabelSelector,
  parseLabelSelector,
  type LabelOperator,
  type LabelRequirement,
  type LabelSelectorFields,
  type Labels,
} from './selectors/label-selector.ts'
export {
  escapeFieldValue,
  exactFieldValue,
  matchesFields,
  parseFieldSelector,
  printFieldSelector,
  type FieldRequirement,
} from './selectors/field-selector.ts'
export {
  cloneJson,
  equalJson,
  isJsonObject,
  isLongerAsJson,
  memberOf,
  setMember,
  type JsonObject,
} from './json.ts'
export {
  encodeCanonical,
  respliceResourceVersion,
  spliceResourceVersion,
} from './encoding/canonical.ts'
export {
  bodyLimits,
  decodeBody,
  decodeBodyBy,
  decodeObjectBody,
  inBodyOrder,
  objectOfBody,
  type BodyLimits,
  type DecodeOptions,
  type DecodedBody,
  type ReadYaml,
} from './encoding/body.ts'
export { parseYaml, type YamlRequest } from './encoding/yaml.ts'
export { YamlError } from './encoding/yaml-error.ts'
export { cloneAsSent, hasSentEmpty } from './encoding/sent-empty.ts'
export { jsonErrorText, unreadableBody } from './encoding/unreadable-body.ts'
export {
  checkFields,
  decodingPrefix,
  strictDecodingError,
  type FieldCheck,
  type FieldFindings,
} from './encoding/field-check.ts'
export {
  autoscalerFromVersion2,
  autoscalerToVersion2,
} from './strategies/autoscaling/autoscaler-versions.ts'
export { timeErrorText } from './encoding/time-error.ts'
export { nullEmptyLists, setDeclaredDefaults } from './encoding/declared-defaults.ts'
export { canonicalTime } from './encoding/scalar-text.ts'
export { unconvertible, undecodable } from './encoding/type-words.ts'
export { printGo } from './patch/print-go.ts'
export { applyJsonPatch, jsonPatchSteps, jsonPatchLimits } from './patch/json-patch.ts'
export { applyMergePatch } from './patch/merge-patch.ts'
export { applyStrategicMergePatch } from './patch/strategic-merge.ts'
export { checkApplied } from './patch/apply/applied-check.ts'
export {
  applyServerSide,
  applySteps,
  type ServerSideApply,
} from './patch/apply/apply-server-side.ts'
export type { FindVersion, KindVersion } from './patch/apply/kind-versions.ts'
export {
  keepTimesOfNoop,
  trackUpdate,
  trackUpdateSteps,
  type TrackedUpdate,
} from './patch/apply/track-update.ts'
export { runSteps, type Steps } from './steps.ts'
export { schemaFromCrd, type CrdSchema } from './structural/crd-schema.ts'
export { checkStructural } from './structural/structural-check.ts'
export {
  validateStructural,
  validateStructuralStatusUpdate,
  validateStructuralUpdate,
} from './structural/validate.ts'
export { expressions, loadExpressions } from './expressions.ts'
export { kubernetesEnvironment } from './cel/compiled-rule.ts'
export { compileRuleSet, evaluateRules, type RuleSet } from './cel/rule-set.ts'
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
  type ResourceQuestion,
} from './admission-cel/authorizer-library.ts'
export { objectRoot } from './admission-cel/patch-types.ts'
export { typedSchema, type TypedSchema } from './admission-cel/typed-schema.ts'
export { aggregatedRules } from './aggregated-rules.ts'
export { toleratesTaint } from './taints.ts'
export { pemBlocks, type PemBlock } from './strategies/pem-text.ts'
export { invalidOmitted } from './strategies/invalid-omitted.ts'
export {
  podReferenceFields,
  podReferences,
  referenceOfStaticPod,
  type PodReference,
  type PodReferenceResource,
  type PodReferenceVia,
} from './pod-references.ts'
export { addLists, isAbove, podResources, type ResourceList } from './quota/pod-resources.ts'
export { quotaUsage, type QuotaUser } from './quota/quota-usage.ts'
export { hasQuotaScopes, isInQuotaScopes } from './quota/quota-scope.ts'
export {
  matchesNodeAffinity,
  matchesNodeSelectorTerm,
  matchesNodeSelectorTerms,
  meetsRequirement,
  type SelectableNode,
} from './node-selector.ts'
export { localPath } from './local-path.ts'
export {
  bootstrapNamespace,
  bootstrapSecretName,
  bootstrapSecretType,
  parseBootstrapToken,
  type BootstrapToken,
} from './bootstrap-token.ts'
