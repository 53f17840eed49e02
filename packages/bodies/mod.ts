/**
 * bodies: reads the bodies of requests (JSON and YAML, JSON patches, merge patches and server-side
 * apply), and writes objects in one canonical form. Pure: no I/O and no node: imports. It knows
 * schemas, and no kind by name.
 * Start reading at encoding/body.ts, then patch/apply/apply-server-side.ts.
 */
export {
  encodeCanonical,
  respliceResourceVersion,
  spliceResourceVersion,
} from './encoding/canonical.ts'
export {
  decodeBody,
  decodeBodyBy,
  inBodyOrder,
  objectOfBody,
  type DecodedBody,
  type ReadYaml,
} from './encoding/body.ts'
export { parseYaml, type YamlRequest } from './encoding/yaml.ts'
export { printYaml } from './encoding/print-yaml.ts'
export { YamlError } from './encoding/yaml-error.ts'
export { jsonSyntaxError } from './encoding/json-syntax.ts'
export { unreadableBody } from './encoding/unreadable-body.ts'
export { printGo } from './patch/print-go.ts'
export { applyJsonPatch, FailedTestError, jsonPatchSteps } from './patch/json-patch.ts'
export { applyMergePatch } from './patch/merge-patch.ts'
export { applyStrategicMergePatch } from './patch/strategic-merge.ts'
export { checkApplied } from './patch/apply/applied-check.ts'
export { applyServerSide, applySteps } from './patch/apply/apply-server-side.ts'
export type { FindVersion, KindVersion } from './patch/apply/kind-versions.ts'
export { keepTimesOfNoop, trackUpdate, trackUpdateSteps } from './patch/apply/track-update.ts'
export { mergeThreeWay, printPath, type Clash } from './patch/apply/three-way-merge.ts'
export { setAtPath } from './patch/apply/set-at-path.ts'
export { runSteps, type Steps } from './steps.ts'
export { cloneAsSent, hasSentEmpty, memberAsSent } from './encoding/sent-empty.ts'
export {
  checkFields,
  decodingDetail,
  strictDecodingError,
  undecodedObject,
} from './encoding/field-check.ts'
export { timeErrorText } from './encoding/time-error.ts'
export { nullEmptyLists, setDeclaredDefaults } from './encoding/declared-defaults.ts'
export { canonicalTime } from './encoding/scalar-text.ts'
export { unconvertible, undecodable } from './encoding/type-words.ts'
