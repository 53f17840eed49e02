/**
 * api: Kubernetes' vocabulary. The types of objects, kinds and schemas; names, labels, quantities and
 * Status. Pure: no I/O and no node: imports. The kinds themselves are in the package kinds.
 * Start reading at kind.ts (the definition of a kind), then schema.ts.
 */
export type * from './object.ts'
export type * from './generated/types.ts'
export type { FleetRow } from './fleet-row-fields.ts'
export { objectMetaLimits, recursionMax, retryAfterSecondsMax } from './limits-table.ts'
export type { Schema, SchemaSet } from './schema.ts'
export type {
  Column,
  Kind,
  KindTexts,
  NameRule,
  Strategy,
  StrategyContext,
  Subresource,
} from './kind.ts'
export {
  StatusError,
  codeOfReason,
  isErrorCode,
  statusDetailsOf,
  isStatusError,
  type Status,
  type StatusCause,
  type StatusDetails,
  type StatusReason,
} from './status-error.ts'
export { ageOf, humanDuration } from './human-duration.ts'
export {
  fieldDuplicate,
  fieldForbidden,
  fieldInvalid,
  fieldNotFound,
  fieldNotSupported,
  fieldRequired,
  fieldTooLong,
  fieldTooMany,
  fieldTypeInvalid,
  quoteGo,
  printFieldValue,
} from './field-error.ts'
export {
  checkConfigKey,
  checkDns1035Label,
  checkDnsLabel,
  checkDnsSubdomain,
  checkEnvName,
  checkLabelValue,
  checkPathSegment,
  checkPortName,
  checkQualifiedName,
  byteLength,
  checkConditionReason,
} from './names.ts'
export { isReservedNodeLabel } from './node-labels.ts'
export {
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
  binaryExponents,
  canonicalQuantity,
  compareQuantities,
  decimalExponents,
  formatQuantity,
  parseQuantity,
  quantityOf,
  quantityOfMilli,
  quantityToFloat,
  quantityToMilli,
  quantityToNumber,
  subtractQuantities,
  type Quantity,
} from './quantity.ts'
export { formatDurationMs, parseDurationMs } from './duration.ts'
export {
  LabelSelector,
  everyLabelSelector,
  labelSelectorOf,
  labelSelectorOfMap,
  noLabelSelector,
  parseLabelSelector,
  type LabelSelectorFields,
  type Labels,
} from './selectors/label-selector.ts'
export {
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
  encodeDeep,
} from './json.ts'
export { aggregatedRules } from './selectors/aggregated-rules.ts'
export { toleratesTaint } from './taints.ts'
export { invalidOmitted } from './invalid-omitted.ts'
export {
  podReferenceFields,
  podReferences,
  referenceOfStaticPod,
  type PodReference,
  type PodReferenceResource,
} from './pod-references.ts'
export { addLists, isAbove, podResources, type ResourceList } from './quota/pod-resources.ts'
export { quotaUsage, type QuotaUser } from './quota/quota-usage.ts'
export { hasQuotaScopes, isInQuotaScopes } from './quota/quota-scope.ts'
export {
  matchesNodeAffinity,
  matchesNodeSelectorTerm,
  matchesNodeSelectorTerms,
  meetsRequirement,
} from './node-selector.ts'
export { changeImage, type ImageChange } from './image-change.ts'
export { localPath } from './local-path.ts'
export {
  bootstrapNamespace,
  bootstrapSecretName,
  bootstrapSecretType,
  parseBootstrapToken,
  type BootstrapToken,
} from './bootstrap-token.ts'
