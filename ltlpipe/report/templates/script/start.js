  // --- Beginning -------------------------------------------------------------------------

  async function start() {
    takeData(await unpack());
    prepareHeads([byId("table").tHead.rows[0].cells[0]]);
    prepareControls();
    preparePages();
    preparePrinting();
    prepareFilters();
    document.addEventListener("click", followLinks);
    byId("task").addEventListener("keydown", (event) => {
      if (event.key === "Escape") closeTask();
    });
    WIDE.addEventListener("change", placeTask);
    window.addEventListener("hashchange", recall);
    recall();
    document.documentElement.dataset.ready = "yes";
  }

  start().catch((error) => {
    byId("found").textContent += ` (The script of this page failed: ${error.message})`;
    throw error;
  });
