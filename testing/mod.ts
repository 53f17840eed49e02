/**
 * testing: the common base of several packages' tests. An API server in-process, and test hosts in network
 * namespaces. No product code imports it. Start reading at hosts/test-network.ts.
 */
export {
  createTestNetwork,
  runToEnd,
  type CommandResult,
  type RunOptions,
  type TestHost,
  type TestNetwork,
} from './hosts/test-network.ts'
export { cloudAddress, createLinkNetwork, edgeAddress } from './hosts/link-network.ts'
export {
  layerOfDirectory,
  layerOfFiles,
  writeOciArchive,
  writeOciArchiveOfMany,
} from './images/oci-image.ts'
export { startTestRegistry } from './images/test-registry.ts'
export { brokenBodies } from './broken-bodies.ts'
export { failuresOfDamage, fileDamages, refusalProblem } from './damaged-files.ts'
export { errorLogger } from './error-logger.ts'
export { startTestEtcd, whyNoEtcd, type TestEtcd } from './test-etcd.ts'
export { simulatedClock, type SimulatedClock } from '@skerry/base'
export {
  administrator,
  openAccess,
  startCopyOf,
  startTestApiServer,
  type TestApiServer,
  type TestApiServerOptions,
  type TestCredentials,
} from './test-api-server.ts'
export { callApi, watchApi, type ApiCall, type ApiReply, type JsonReply } from './api-calls.ts'
export {
  startTestWebhook,
  webhookCertificate,
  type TestWebhook,
  type WebhookReply,
} from './test-webhook.ts'
export { startTestIssuer, type TestIssuer, type TestIssuerOptions } from './test-issuer.ts'
export { bootScript } from './machines/boot-script.ts'
export { aptSettings, aptTargets, hostSuite } from './machines/apt-sources.ts'
export { debianRoot } from './machines/debian-root.ts'
export { makeControlGroups, type ControlGroups } from './machines/control-groups.ts'
export { startTestMachine, whyNoMachine, type TestMachine } from './machines/test-machine.ts'
export { mountSmallDisk } from './hosts/small-disk.ts'
export { unpackClients } from './kubectl/kubectl.ts'
export { keptDirectory, makeOnce } from './kept-directory.ts'
export { plainDefinition } from './plain-definition.ts'
export { until } from './until.ts'
export { cutPower, type AfterCut } from './power/cut-power.ts'
export { untilObject, untilSeen } from './until-object.ts'
export { startTestProxy, type TestProxyOptions } from './network/test-proxy.ts'
export { openInspectedWay, type Inspection } from './network/inspected-way.ts'
export { startRawPeer, type RawAnswer, type RawPeer } from './odd-answers/raw-peer.ts'
export { oddFrame, settingsFrame } from './odd-answers/odd-frame.ts'
export { openSession } from './odd-answers/ask-over-http2.ts'
export { oddRawAnswers, randomAnswer, says, saysPieces } from './odd-answers/odd-answer.ts'
export { giveRight, oddJsonAnswers, type OddJsonOptions } from './odd-answers/odd-json-answers.ts'
export { tryOddAnswers, type Told } from './odd-answers/try-odd-answers.ts'
export { randomValues, withOddValue } from './odd-answers/odd-document.ts'
export { readAnswers } from './odd-answers/read-answers.ts'
export { askToUpgrade, askTwice } from './odd-answers/ask-over-http1.ts'
export { collectUncaught, failOnUncaught } from './odd-answers/uncaught-errors.ts'
