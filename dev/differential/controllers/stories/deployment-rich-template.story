# The hash of a template with many kinds of fields.

### made
create
  kind: Deployment
  metadata: {name: rich}
  spec:
    replicas: 1
    selector: {matchLabels: {app: web}}
    template:
      metadata:
        labels: {app: web, "b/c": d}
        annotations: {z: last, a: first}
      spec:
        terminationGracePeriodSeconds: 5
        nodeSelector: {disk: ssd}
        hostNetwork: true
        shareProcessNamespace: false
        priorityClassName: ""
        tolerations: [{key: a, operator: Exists, effect: NoExecute, tolerationSeconds: 10}]
        securityContext: {runAsUser: 1000, fsGroup: 2, seccompProfile: {type: RuntimeDefault}}
        affinity:
          podAntiAffinity:
            preferredDuringSchedulingIgnoredDuringExecution:
            - {weight: 3, podAffinityTerm: {topologyKey: zone, labelSelector: {matchExpressions: [{key: app, operator: In, values: [web, x]}]}}}
          nodeAffinity:
            requiredDuringSchedulingIgnoredDuringExecution:
              nodeSelectorTerms: [{matchExpressions: [{key: a, operator: Gt, values: ["1"]}]}]
        topologySpreadConstraints: [{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: ScheduleAnyway, labelSelector: {matchLabels: {app: web}}}]
        initContainers:
        - {name: setup, image: "i", command: [sh, -c, "echo <a> & b"], restartPolicy: Always}
        containers:
        - name: main
          image: "a:1"
          args: ["--x=1"]
          ports: [{name: http, containerPort: 80}, {containerPort: 53, protocol: UDP}]
          env: [{name: A, value: b}, {name: B, valueFrom: {fieldRef: {fieldPath: metadata.name}}}, {name: C, valueFrom: {configMapKeyRef: {name: cm, key: k, optional: true}}}, {name: D, valueFrom: {resourceFieldRef: {resource: limits.cpu}}}]
          envFrom: [{prefix: P_, secretRef: {name: s}}]
          resources: {requests: {cpu: 100m, memory: 64Mi, ephemeral-storage: 1G}, limits: {cpu: "1.5", memory: 1.5Gi, example.com/gpu: "2"}}
          readinessProbe: {httpGet: {path: /, port: http}, periodSeconds: 3}
          livenessProbe: {exec: {command: ["true"]}}
          startupProbe: {tcpSocket: {port: 80}}
          lifecycle: {preStop: {sleep: {seconds: 2}}}
          volumeMounts: [{name: v, mountPath: /v, readOnly: true}, {name: e, mountPath: /e, subPath: x}]
          securityContext: {capabilities: {drop: [ALL]}, allowPrivilegeEscalation: false, readOnlyRootFilesystem: true}
          stdin: true
        volumes:
        - {name: v, configMap: {name: cm, items: [{key: a, path: b, mode: 256}]}}
        - {name: e, emptyDir: {medium: Memory, sizeLimit: 10Mi}}
        - {name: p, projected: {sources: [{secret: {name: s}}, {downwardAPI: {items: [{path: l, fieldRef: {fieldPath: metadata.labels}}]}}, {serviceAccountToken: {path: t, expirationSeconds: 3600}}]}}
        - {name: h, hostPath: {path: /x, type: Directory}}
        - {name: c, persistentVolumeClaim: {claimName: c}}
        - {name: y, ephemeral: {volumeClaimTemplate: {spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}}}
        dnsConfig: {nameservers: [1.2.3.4], options: [{name: ndots, value: "2"}]}
        hostAliases: [{ip: 1.1.1.1, hostnames: [a, b]}]
        imagePullSecrets: [{name: pull}]
        readinessGates: [{conditionType: x/y}]
