# ltlpipe in a container: docker build -t ltlpipe . && docker run --rm -v "$PWD:/data" ltlpipe check system.dot -f 'G F a'
FROM python:3.12-slim AS build
COPY . /source
RUN pip wheel --no-cache-dir --no-deps --wheel-dir /wheels /source

FROM python:3.12-slim
COPY --from=build /wheels /wheels
COPY examples /usr/share/ltlpipe/examples
RUN wheel=$(ls /wheels/ltlpipe-*.whl) && pip install --no-cache-dir "$wheel" && rm -r /wheels
# Kernels, for whatever processor the image will run on.
COPY scripts/kernels.py /usr/share/ltlpipe/scripts/
RUN python /usr/share/ltlpipe/scripts/kernels.py
# The demo, as a check of the image: its problems are solved, five formulas are violated.
RUN ltlpipe solve /usr/share/ltlpipe/examples/problems --out /tmp/demo.csv; test "$(grep -c violated /tmp/demo.csv)" = 5
WORKDIR /data
ENTRYPOINT ["ltlpipe"]
CMD ["--help"]
