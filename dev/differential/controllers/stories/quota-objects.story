# What other objects use of a quota.
Show: resourcequotas, events

### a quota
create
  kind: ResourceQuota
  metadata: {name: all}
  spec:
    hard:
      configmaps: "10"
      secrets: "10"
      services: "10"
      services.nodeports: "2"
      services.loadbalancers: "2"
      persistentvolumeclaims: "5"
      requests.storage: 10Gi
      fast.storageclass.storage.k8s.io/requests.storage: 5Gi
      fast.storageclass.storage.k8s.io/persistentvolumeclaims: "2"
      count/deployments.apps: "3"
      count/configmaps: "10"
      resourcequotas: "4"
      replicationcontrollers: "4"
wait resourcequotas/all status.used.services

### some of each
create
  kind: ConfigMap
  metadata: {name: a}
  ---
  kind: Secret
  metadata: {name: a}
  ---
  kind: Service
  metadata: {name: plain}
  spec: {ports: [{port: 80}]}
  ---
  kind: Service
  metadata: {name: node}
  spec: {type: NodePort, ports: [{port: 80}]}
  ---
  kind: Service
  metadata: {name: outside}
  spec: {type: LoadBalancer, ports: [{port: 80}]}
  ---
  kind: PersistentVolumeClaim
  metadata: {name: slow}
  spec: {accessModes: [ReadWriteOnce], storageClassName: slow, resources: {requests: {storage: 1Gi}}}
  ---
  kind: PersistentVolumeClaim
  metadata: {name: fast}
  spec: {accessModes: [ReadWriteOnce], storageClassName: fast, resources: {requests: {storage: 2Gi}}}
  ---
  kind: Deployment
  metadata: {name: web}
  spec:
    replicas: 0
    selector: {matchLabels: {app: web}}
    template:
      metadata: {labels: {app: web}}
      spec: {containers: [{name: main, image: "a:1"}]}

### they go
delete configmaps/a
delete services/outside
delete deployments/web
settle
