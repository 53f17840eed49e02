# What pods use of quotas, by their scopes.
Show: resourcequotas, events
Quiet: 1500ms

### quotas
create
  kind: ResourceQuota
  metadata: {name: all}
  spec: {hard: {pods: "10", requests.cpu: "4", limits.memory: 1Gi, cpu: "3", requests.ephemeral-storage: 1Gi}}
  ---
  kind: ResourceQuota
  metadata: {name: best}
  spec: {hard: {pods: "5"}, scopes: [BestEffort]}
  ---
  kind: ResourceQuota
  metadata: {name: ending}
  spec: {hard: {pods: "5"}, scopes: [Terminating]}
  ---
  kind: ResourceQuota
  metadata: {name: lasting}
  spec: {hard: {pods: "5", requests.cpu: "2"}, scopes: [NotTerminating, NotBestEffort]}
wait resourcequotas/all status.used.pods
wait resourcequotas/best status.used.pods
wait resourcequotas/ending status.used.pods
wait resourcequotas/lasting status.used.pods

### pods
create
  kind: Pod
  metadata: {name: a}
  spec:
    containers: [{name: main, image: "a:1", resources: {requests: {cpu: 100m, ephemeral-storage: 1Mi}, limits: {memory: 64Mi, cpu: 200m}}}]
  ---
  kind: Pod
  metadata: {name: b}
  spec:
    activeDeadlineSeconds: 100
    initContainers: [{name: init, image: "a:1", resources: {requests: {cpu: "1", ephemeral-storage: 1Mi}, limits: {memory: 10Mi}}}]
    containers: [{name: main, image: "a:1", resources: {requests: {cpu: 50m, ephemeral-storage: 1Mi}, limits: {memory: 20Mi}}}]

### one ends
fail a

### one is deleted
delete pods/b {gracePeriodSeconds: 0}

### the quota changes
patch resourcequotas/all {spec: {hard: {pods: "20", cpu: null}}}
