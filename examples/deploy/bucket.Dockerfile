# The image of editd with the SDK that only buckets need: see bucket.yaml.
FROM editd
USER root
RUN npm install --no-save --omit=dev --no-audit --no-fund @aws-sdk/client-s3@3
USER node
