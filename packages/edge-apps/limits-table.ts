/** The limits of this package that callers cannot set, by the file that enforces them. */
export const edgeAppsBounds = Object.freeze({
  appController: Object.freeze({
    /** The children of which a controller remembers what the server made of their content; others are applied again. */
    appliedMax: 20_000,
    /** The number of children of one application that are written at the same time. */
    writesMax: 12,
    /** Nodes change in crowds: an application looks once at all changes of this time. */
    nodeDelayMs: 50,
  }),
  childName: Object.freeze({
    /** The label of a StatefulSet's pods with its revision has 63 characters, of which a hash takes 11. */
    statefulSetLength: 52,
  }),
  childPlan: Object.freeze({
    /** The groups of one application: each has an entry in its status, which must fit into an object. */
    groupsMax: 2_000,
  }),
  groupPolicy: Object.freeze({
    /** The time that a vanished group keeps its child if the application says nothing: that of a node that is away. */
    vanishedGraceSecondsDefault: 300,
  }),
  foundUnits: Object.freeze({
    /** The units that one group makes of nodes' labels. */
    unitsMax: 2_000,
  }),
  nodeSettingsController: Object.freeze({
    /** The sets of nodes of which is remembered that an event has named their fault. */
    toldMax: 2_000,
  }),
  nodeUnitController: Object.freeze({
    /** A report names all nodes of its unit: the next one of a big unit waits, while its nodes change in a crowd. */
    reportMsPerNode: 0.2,
    /** The units whose last report is remembered. */
    reportsMax: 2_000,
  }),
  readUnit: Object.freeze({
    /** The pods of a unit that are read to see whether it can be a cluster of its own; each may need further reads. */
    podsMax: 5_000,
  }),
  unitClusterController: Object.freeze({
    /** Pods and volumes are not watched for it, so that a unit that waits is looked at again after this time. */
    lookAgainMs: 60_000,
    /** The interval at which the status of a unit that acts by itself is looked at. */
    heardAgainMs: 15_000,
    /** The interval at which a content that was refused is read again. */
    refusedMs: 15_000,
    /** The pause between two steps of a unit that is handed over or taken back. */
    stepMs: 500,
    /** The interval at which a unit is looked at that acts, and gets further servers. */
    growMs: 3_000,
    /** The faults that one status names. */
    faultsMax: 5,
  }),
  installDefinitions: Object.freeze({
    /** The time between two looks at a definition that is not served yet. */
    lookMs: 100,
    retry: Object.freeze({ initialMs: 500, maxMs: 30_000 }),
  }),
})
