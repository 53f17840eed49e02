# Claims of their own: kept when scaled down, deleted with the set, as its policy says.
Counts: vary
Quiet: 1500ms

### two with claims
create
  kind: StatefulSet
  metadata: {name: web}
  spec:
    replicas: 2
    persistentVolumeClaimRetentionPolicy: {whenScaled: Retain, whenDeleted: Delete}
    volumeClaimTemplates:
    - metadata: {name: data, labels: {kind: disk}, annotations: {a: b}}
      spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
    serviceName: web
    selector: {matchLabels: {app: web}}
    template:
      metadata: {labels: {app: web}}
      spec: {containers: [{name: main, image: "a:1"}]}
wait pods length = 1
evolve

### one
patch statefulsets/web {spec: {replicas: 1}}

### claims go with pods from now on
patch statefulsets/web {spec: {persistentVolumeClaimRetentionPolicy: {whenScaled: Delete, whenDeleted: Retain}}}

### two, then one
patch statefulsets/web {spec: {replicas: 2}}
evolve
patch statefulsets/web {spec: {replicas: 1}}
evolve
settle

### deleted
delete statefulsets/web
wait statefulsets/web gone
