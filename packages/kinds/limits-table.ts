export const requestBytesMax = 3 * 1024 * 1024

/** The limit of the data in a ConfigMap or Secret. */
export const dataBytesMax = 1024 * 1024

/** The configurations of one claim or class of devices. */
export const configsMax = 32

export const causeLimits = Object.freeze({
  /** The limit for one object. */
  causesMax: 200,
  /** The limit for one definition, whose schema has one place for each cause. */
  definitionCausesMax: 10_000,
  /** The length of all texts: a key of a megabyte is part of the path of every error below it. */
  textCharactersMax: 64 * 1024,
})

/** Bounds of Kubernetes’ kinds, which are upstream’s unless a comment says otherwise, by the file that keeps them. */
export const kindsBounds = Object.freeze({
  /** Upstream's limits of the estimated cost of rules. */
  checkRules: Object.freeze({
    ruleMax: 10_000_000,
    definitionMax: 100_000_000,
  }),
  /** Upstream's limits of a device's attributes, by which a selector's cost can be estimated. */
  deviceSelector: Object.freeze({
    costMax: 1_000_000,
    entries: 32,
    domainBytes: 63,
    idBytes: 32,
    driverBytes: 63,
    valueBytes: 64,
  }),
  ruleSet: Object.freeze({
    /** The budget of one evaluation of one rule. */
    callCostMax: 1_000_000,
    /** The budget of all rules on one object. */
    objectCostMax: 10_000_000,
    messageBytesMax: 5 * 1024,
  }),
  horizontalPodAutoscalerValidation: Object.freeze({
    periodSeconds: 1800,
    stabilizationSeconds: 3600,
  }),
  jobPolicyValidation: Object.freeze({
    rules: 20,
    exitCodes: 255,
    conditions: 20,
  }),
  jobSpecValidation: Object.freeze({
    indexedParallelism: 100_000,
    indexedFailures: 100_000,
    /** Above this many completions the two limits below apply as well. */
    completions: 100_000,
    parallelismAbove: 10_000,
    failuresAbove: 10_000,
    managedByBytes: 63,
  }),
  dnsConfig: Object.freeze({
    nameservers: 3,
    searches: 32,
    searchCharacters: 2048,
  }),
  endpointSliceValidation: Object.freeze({
    endpoints: 1000,
    addresses: 100,
    ports: 20_000,
    topologyLabels: 16,
    hints: 8,
  }),
  claimStatusValidation: Object.freeze({
    results: 32,
    reservedFor: 256,
    conditions: 8,
    addresses: 16,
    interfaceBytes: 256,
    hardwareBytes: 128,
  }),
  claimValidation: Object.freeze({
    requests: 32,
    constraints: 32,
    alternatives: 8,
  }),
  counterValidation: Object.freeze({
    sets: 8,
    consumptions: 2,
    counters: 32,
  }),
  provisionerChecks: Object.freeze({
    parameters: 512,
    bytes: 256 * 1024,
  }),
  patterns: Object.freeze({
    /** A longer text is not matched but refused. */
    textLengthMax: 1024 * 1024,
  }),
  prune: Object.freeze({
    /** The total length of the paths of all unknown fields. Further ones are removed without being reported. */
    pathCharactersMax: 1024 * 1024,
  }),
  semverLibrary: Object.freeze({
    /** A longer text is not a version, and is not matched. */
    lengthMax: 1024,
  }),
  policyValidation: Object.freeze({
    auditAnnotationsMax: 20,
    valueExpressionBytesMax: 5 * 1024,
  }),
  deprecationWarning: Object.freeze({
    bytesMax: 256,
  }),
  cronJobValidation: Object.freeze({
    /** A job's name has eleven more characters, and it becomes a label. */
    nameLengthMax: 52,
  }),
  jobWarnings: Object.freeze({
    completionsMax: 100_000,
    parallelismMax: 10_000,
  }),
  clusterTrustBundle: Object.freeze({
    bundleBytesMax: 1_024 * 1_024,
  }),
  podCertificateRequest: Object.freeze({
    annotationsBytesMax: 256 * 1_024,
    keyBytesMax: 10 * 1_024,
    secondsMin: 3600,
  }),
  podCertificateStatus: Object.freeze({
    chainBytesMax: 100 * 1_024,
  }),
  conditions: Object.freeze({
    reasonBytesMax: 1_024,
    messageBytesMax: 32 * 1_024,
  }),
  security: Object.freeze({
    sysctlBytesMax: 253,
    profileBytesMax: 4095,
  }),
  serviceValidation: Object.freeze({
    affinitySecondsMax: 86_400,
  }),
  flowSchemaValidation: Object.freeze({
    precedenceMax: 10_000,
  }),
  priorityLevelValidation: Object.freeze({
    queuesMax: 10_000_000,
  }),
  ingressClass: Object.freeze({
    controllerBytesMax: 250,
  }),
  bindingConditions: Object.freeze({
    conditionsMax: 4,
  }),
  deviceClass: Object.freeze({
    conditionsMax: 8,
  }),
  deviceConfig: Object.freeze({
    opaqueBytesMax: 10 * 1_024,
  }),
  deviceName: Object.freeze({
    idBytesMax: 32,
  }),
  deviceValidation: Object.freeze({
    taintsMax: 16,
    valueBytesMax: 64,
  }),
  requestNames: Object.freeze({
    requestsMax: 32,
  }),
  requestPolicy: Object.freeze({
    optionsMax: 10,
  }),
  selectorValidation: Object.freeze({
    selectorsMax: 32,
    expressionBytesMax: 10 * 1_024,
  }),
  sliceValidation: Object.freeze({
    devicesMax: 128,
    /** The limit if devices have taints, counters or lists. */
    richDevicesMax: 64,
  }),
  priorityClass: Object.freeze({
    /** The two classes that the system itself uses are above this. */
    userValueMax: 1_000_000_000,
  }),
  csiNode: Object.freeze({
    nodeIdCharactersMax: 256,
  }),
})
